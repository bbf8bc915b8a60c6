import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { PaymentActivities } from '../../../src/activities/payment/payment.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import { MAX_ATTEMPTS } from '../../../src/domain/payment/requests.ts'
import { newId } from '../../../src/ids.ts'
import { createRates } from '../../../src/providers/converter/rates.ts'
import { type ActivityWorld, createActivityWorld, perform } from './world.ts'

let world: ActivityWorld
beforeAll(async () => {
  world = await createActivityWorld()
})
afterAll(() => world.close())

const CARD = { provider: 'card_partner', method: 'card' } as const
const APP = { provider: 'wallet_app', method: 'banking_app' } as const
const TRANSFER = { provider: 'local_partner', method: 'bank_transfer' } as const

type Opened = Awaited<ReturnType<PaymentActivities['openPartnerOrder']>>

function open(
  paymentId: string,
  choice: typeof CARD | typeof APP | typeof TRANSFER,
  by: PaymentActivities = world.activities(),
): Promise<Opened> {
  return perform(by.openPartnerOrder, { paymentId, attemptId: newId('attempt'), ...choice })
}

/** A payment with so many attempts that came to nothing. */
async function started(times: number): Promise<string> {
  const { id } = await world.checkout.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  await world.checkout.change(id, async (work) => {
    for (let attempt = 0; attempt < times; attempt++) {
      const attemptId = newId('attempt')
      await work.addAttempt({ id: attemptId, ...APP, asked: { minor: '4999', currency: 'EUR' } })
      await work.saveAttempt(attemptId, { status: 'declined' })
    }
    await work.move('pending', { actor: 'buyer', message: 'opened' })
  })
  return id
}
const attemptsOf = async (id: string) => (await loadPayment(world.checkout.db, id)).attempts

describe('the twentieth order of a payment', () => {
  test('is opened, and is the last', async () => {
    const id = await started(MAX_ATTEMPTS - 1)
    expect((await open(id, CARD)).answer.kind).toBe('redirect')
    expect((await open(id, APP)).answer).toEqual({ kind: 'too_many_attempts' })
    // The refused click took nothing away: the order that is open can still be paid.
    const last = (await attemptsOf(id)).at(-1)
    expect(last).toMatchObject({ ...CARD, status: 'open' })
    const again = await open(id, CARD)
    expect(again.answer).toEqual({ kind: 'redirect', attemptId: last?.id, url: last?.redirectUrl })
    expect(await attemptsOf(id)).toHaveLength(MAX_ATTEMPTS)
  })

  test('is opened once by two clicks at the same moment: the second is refused under the lock', async () => {
    const id = await started(MAX_ATTEMPTS - 1)
    const other: Promise<Opened>[] = []
    const { rates } = world.deps
    // A rate is asked for between the look at the row and its lock.
    const slower = world.activities({
      rates: {
        current: async (currency) => {
          if (other.length === 0) other.push(open(id, CARD))
          await other[0]
          return rates.current(currency)
        },
      },
    })
    const orders = async () =>
      (await (await fetch(`${world.sandbox.url}/local-partner/sandbox/orders`)).json()) as object[]
    const before = (await orders()).length
    expect((await open(id, TRANSFER, slower)).answer).toEqual({ kind: 'too_many_attempts' })
    expect((await other[0])?.answer.kind).toBe('redirect')
    expect(await attemptsOf(id)).toHaveLength(MAX_ATTEMPTS)
    expect(await orders()).toHaveLength(before)
  })
})

test('going back to an order while a newer one is open cancels the newer one first', async () => {
  const { id } = await world.checkout.create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  const first = await open(id, TRANSFER)
  await open(id, CARD)
  // An order of this partner cannot be canceled, so both were open until now.
  expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['open', 'open'])
  expect((await open(id, TRANSFER)).answer).toEqual(first.answer)
  expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['open', 'canceled'])
})

test('an amount in another currency is not charged at a rate that is old', async () => {
  const { id } = await world.checkout.create()
  const rates = createRates(world.sandbox.converter(), { refreshSeconds: 10, clock: world.sandbox.now })
  const by = world.activities({ rates })
  await world.sandbox.fault('converter', { fault: 'old_rates', seconds: 601 })
  await expect(open(id, TRANSFER, by)).rejects.toThrow('there is no current rate of')
  expect(await attemptsOf(id)).toEqual([])
  await fetch(`${world.sandbox.url}/converter/sandbox/faults`, { method: 'DELETE' })
  world.sandbox.advance(5)
  expect((await open(id, TRANSFER, by)).answer.kind).toBe('redirect')
})

describe('what a payment is for', () => {
  test('is told to the partner as far as it takes it, and no character of it by half', async () => {
    const description = `${'a'.repeat(199)}🎁 and more`
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await world.checkout.create({ expiresAt, description })
    await open(id, APP)
    const orders = await fetch(`${world.sandbox.url}/wallet-app/sandbox/orders`)
    const [attempt] = await attemptsOf(id)
    const told = ((await orders.json()) as { attemptId: string; description: string }[]).find(
      (order) => order.attemptId === attempt?.id,
    )
    expect(told?.description).toBe(`${'a'.repeat(199)}🎁`)
  })
})
