import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createPaymentActivities, type PaymentActivities } from '../../../src/activities/payment/payment.ts'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { MAX_ATTEMPTS } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { ACCOUNT, type SandboxServer, startSandboxServer } from '../../providers/sandbox-server.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../../web/checkout-world.ts'
import { RATES } from '../../web/fixtures.ts'

let world: CheckoutWorld
let server: SandboxServer
beforeAll(async () => {
  ;[world, server] = await Promise.all([createCheckoutWorld(), startSandboxServer()])
})
afterAll(async () => {
  await Promise.all([world.close(), server.close()])
})

const CARD = { provider: 'card_partner', method: 'card' } as const
const APP = { provider: 'wallet_app', method: 'banking_app' } as const
const TRANSFER = { provider: 'local_partner', method: 'bank_transfer' } as const

/** The activities with the partners' simulators. `beforeRate` runs between the look at the row and its lock. */
function activities(beforeRate: () => Promise<unknown> = async () => undefined): PaymentActivities {
  const absent = (): never => {
    throw new Error('not part of opening an order')
  }
  const deps: PaymentDeps = {
    db: world.db,
    partners: { ...server.partners(), crypto: { ...server.partners().wallet_app, name: 'crypto' } },
    accounts: { wallet_app: ACCOUNT, card_partner: ACCOUNT, local_partner: ACCOUNT, crypto: ACCOUNT },
    converter: { rates: absent, convert: absent },
    rates: {
      current: async (currency) => {
        await beforeRate()
        return { currency, rate: RATES[currency] ?? '1', source: 'test', asOf: new Date().toISOString() }
      },
    },
    context: { publicUrl: 'http://127.0.0.1:9', now: Date.now },
    tolerancePercent: 1,
    payouts: { treasury: '0x', queue: absent, release: absent },
  }
  return createPaymentActivities(deps)
}

type Opened = Awaited<ReturnType<PaymentActivities['openPartnerOrder']>>

function open(by: PaymentActivities, paymentId: string, choice: typeof CARD | typeof APP | typeof TRANSFER) {
  const request = { paymentId, attemptId: newId('attempt'), ...choice }
  const run = (asked: typeof request): Promise<Opened> => by.openPartnerOrder(asked)
  return new MockActivityEnvironment().run<[typeof request], Opened, typeof run>(run, request)
}

/** A payment with so many attempts that came to nothing. */
async function started(times: number): Promise<string> {
  const { id } = await world.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  await world.change(id, async (work) => {
    for (let attempt = 0; attempt < times; attempt++) {
      const attemptId = newId('attempt')
      await work.addAttempt({ id: attemptId, ...APP, asked: { minor: '4999', currency: 'EUR' } })
      await work.saveAttempt(attemptId, { status: 'declined' })
    }
    await work.move('pending', { actor: 'buyer', message: 'opened' })
  })
  return id
}
const attemptsOf = async (id: string) => (await loadPayment(world.db, id)).attempts

describe('the twentieth order of a payment', () => {
  test('is opened, and is the last', async () => {
    const id = await started(MAX_ATTEMPTS - 1)
    expect((await open(activities(), id, CARD)).answer.kind).toBe('redirect')
    expect((await open(activities(), id, APP)).answer).toEqual({ kind: 'too_many_attempts' })
    // The refused click took nothing away: the order that is open can still be paid.
    const last = (await attemptsOf(id)).at(-1)
    expect(last).toMatchObject({ ...CARD, status: 'open' })
    const again = await open(activities(), id, CARD)
    expect(again.answer).toEqual({ kind: 'redirect', attemptId: last?.id, url: last?.redirectUrl })
    expect(await attemptsOf(id)).toHaveLength(MAX_ATTEMPTS)
  })

  test('is opened once by two clicks at the same moment: the second is refused under the lock', async () => {
    const id = await started(MAX_ATTEMPTS - 1)
    const other: Promise<Opened>[] = []
    const slower = activities(async () => {
      if (other.length === 0) other.push(open(activities(), id, CARD))
      await other[0]
    })
    const orders = async () => (await (await fetch(`${server.url}/local-partner/sandbox/orders`)).json()) as object[]
    const before = (await orders()).length
    expect((await open(slower, id, TRANSFER)).answer).toEqual({ kind: 'too_many_attempts' })
    expect((await other[0])?.answer.kind).toBe('redirect')
    expect(await attemptsOf(id)).toHaveLength(MAX_ATTEMPTS)
    expect(await orders()).toHaveLength(before)
  })
})

test('going back to an order while a newer one is open cancels the newer one first', async () => {
  const { id } = await world.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  const first = await open(activities(), id, TRANSFER)
  await open(activities(), id, CARD)
  // An order of this partner cannot be canceled, so both were open until now.
  expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['open', 'open'])
  expect((await open(activities(), id, TRANSFER)).answer).toEqual(first.answer)
  expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['open', 'canceled'])
})
