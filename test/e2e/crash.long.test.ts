import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { deliveredEvents, until } from '../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../scripts/demo/merchant.ts'
import {
  atPartner,
  inboxAnswers,
  openAndLeave,
  startTestSystem,
  success,
  type TestSystem,
} from './harness/test-system.ts'
import { expectSucceeded } from './harness/verdict.ts'

/**
 * kill -9 at each step of a payment. The test waits for no timer: it holds what the process needs next (a call in a
 * proxy, a row in a lock, a server whose clock is stopped), and kills the process while it waits for that.
 */

let testSystem: TestSystem

beforeAll(async () => {
  testSystem = await startTestSystem()
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
})

/** A payment that is held at one point; the process that works on it can be killed now. */
type Held = {
  readonly payment: PaymentAnswer
  readonly paying: Promise<void>
  readonly release: () => void | Promise<void>
}
type Hold = { readonly reached: Promise<void>; readonly release: () => void | Promise<void> }
type CrashPoint = { readonly at: string; readonly hold: () => Promise<Held> }

const REACHED_WITHIN_MS = 60_000
/** The relay checks every quarter of a second here, for callbacks older than three. */
const SIGNALED_WITHIN_MS = 30_000

/** Begins a payment, and resolves when it is held. The buyer continues in parallel. */
async function heldAt(payment: PaymentAnswer, hold: Hold, paying = testSystem.pay(payment)): Promise<Held> {
  paying.catch(() => undefined)
  let reached = false
  void hold.reached.then(() => {
    reached = true
  })
  try {
    await until(async () => (reached ? true : null), `${payment.id} to be held`, REACHED_WITHIN_MS)
  } catch (error) {
    // A hold that no process reached must not block the later ones.
    await hold.release()
    throw error
  }
  return { payment, paying, release: hold.release }
}

const throughPartner =
  (at: 'request' | 'answer', containing: (payment: PaymentAnswer) => string[], body?: object) => async () => {
    const payment = await testSystem.create(body)
    return heldAt(payment, testSystem.partners.hold({ at, containing: containing(payment) }))
  }

const throughChain = (at: 'request' | 'answer') => async () => {
  const payment = await testSystem.create()
  const containing = ['eth_sendRawTransaction', testSystem.payoutNonce(payment.id)]
  return heldAt(payment, testSystem.chain.hold({ at, containing }))
}

/** The row of a payment is locked as soon as it has reached the status. */
const throughRow = (status: string, body?: object, how?: object) => async () => {
  const payment = await testSystem.create(body)
  const paying = testSystem.pay(payment, how)
  await untilStatus(payment, status)
  return heldAt(payment, await testSystem.lock('select 1 from payment where id = $1 for update', [payment.id]), paying)
}

/** The books are locked as soon as it is settling: the settlement skips a payment whose row is locked. */
const throughBooks = async () => {
  const payment = await testSystem.create()
  const paying = testSystem.pay(payment)
  await untilStatus(payment, 'settling')
  return heldAt(payment, await testSystem.lock('lock table ledger_transaction in share row exclusive mode'), paying)
}

const untilStatus = ({ id }: PaymentAnswer, status: string) =>
  until(async () => ((await testSystem.merchant.read(id)).status === status ? true : null), `${id} to be ${status}`)

const opening = (payment: PaymentAnswer) => ['POST /wallet-app/v2/orders\n', payment.checkout_url]
const converting = ({ id }: PaymentAnswer) => [`${id}:convert`]

/** Points that share one kill. */
const TOGETHER: readonly CrashPoint[] = [
  { at: 'after the attempt was recorded, before the partner was asked', hold: throughPartner('request', opening) },
  { at: 'after the partner opened the order, before its answer came', hold: throughPartner('answer', opening) },
  {
    at: 'before the order is read after a callback',
    hold: throughPartner('request', () => ['GET /card-partner/v1/sessions'], { provider: 'card_partner' }),
  },
  {
    at: 'after the order was read, before it is recorded',
    hold: throughRow('pending', { provider: 'local_partner', amount: '5000.00', currency: 'INR' }, { method: 'upi' }),
  },
  { at: 'before the converter is asked', hold: throughPartner('request', converting) },
  { at: 'after the converter has filled, before its answer came', hold: throughPartner('answer', converting) },
]

/** Points with their own kill: they need the settlement engine, or the inbox, for themselves. */
const ALONE: readonly CrashPoint[] = [
  {
    at: 'while it announces, after the merchant has received and before it has answered',
    hold: async () => {
      const payment = await testSystem.create()
      await inboxAnswers(testSystem, { answer: 'hang', times: 1 })
      const paying = testSystem.pay(payment)
      await until(async () => {
        const response = await fetch(`${testSystem.system.info.inbox_url}/deliveries`)
        const deliveries = (await response.json()) as { body: string }[]
        return deliveries.some(({ body }) => body.includes(payment.id)) ? true : null
      }, 'the announcement')
      return { payment, paying, release: () => undefined }
    },
  },
  {
    at: 'after the payout was queued, before it is signed',
    hold: async () => {
      const payment = await testSystem.create()
      return heldAt(payment, await testSystem.lock('lock table payout_signature in share row exclusive mode'))
    },
  },
  { at: 'after the transaction was signed and stored, before it is sent', hold: throughChain('request') },
  { at: 'after the transaction was sent, before the answer came', hold: throughChain('answer') },
  { at: 'after the transfer is final, before it is recorded', hold: throughBooks },
  {
    at: 'after the settlement was recorded, before the workflow knows',
    hold: async () => {
      const payment = await testSystem.create()
      const paying = testSystem.pay(payment)
      await untilStatus(payment, 'settling')
      const frozen = testSystem.freeze('temporal')
      await success(testSystem, payment.id)
      return { payment, paying, release: frozen.thaw }
    },
  },
]

describe('The worker is killed', () => {
  /** The payment held at each point, or the reason why it was not. */
  const held = new Map<string, PromiseSettledResult<Held>>()

  beforeAll(async () => {
    for (const point of ALONE) await killAt([point])
    await killAt(TOGETHER)
  }, 300_000)

  async function killAt(points: readonly CrashPoint[]): Promise<void> {
    const reached = await Promise.allSettled(points.map(({ hold }) => hold()))
    await testSystem.kill('worker')
    for (const [index, result] of reached.entries()) {
      if (result.status === 'fulfilled') await result.value.release()
      held.set(points[index]?.at ?? '', result)
    }
    await testSystem.system.children.get('worker')?.untilReady()
  }

  test.each([...ALONE, ...TOGETHER])(
    'a payment whose worker is killed succeeds: $at',
    async ({ at }) => {
      const point = held.get(at)
      if (point?.status !== 'fulfilled') throw new Error('it was never reached', { cause: point?.reason })
      const { payment, paying } = point.value
      await paying
      await success(testSystem, payment.id)
      await deliveredEvents(testSystem.merchant, payment.id)
    },
    180_000,
  )

  test('every payment was paid, settled and announced once after the worker was killed', async () => {
    const payments = [...held.values()].flatMap((point) => (point.status === 'fulfilled' ? [point.value.payment] : []))
    expect(payments).toHaveLength(TOGETHER.length + ALONE.length)
    await expectSucceeded(testSystem, payments)
  }, 120_000)
})

describe('The api is killed', () => {
  const order = { amount: '49.90', currency: 'EUR', provider: 'wallet_app' } as const
  const key = randomUUID()
  let inOpening: Held
  let called: PaymentAnswer
  let answered: PaymentAnswer

  beforeAll(async () => {
    called = await testSystem.create()
    const attemptId = await openAndLeave(testSystem, called)
    inOpening = await throughPartner('answer', opening)()
    const frozen = testSystem.freeze('temporal')
    const unanswered = testSystem.merchant.create(order, key).catch(() => null)
    answered = await testSystem.create()
    await atPartner(testSystem, attemptId, { action: 'pay' })
    await until(async () => {
      const stored =
        'select 1 from partner_callback e join attempt a on a.id = e.attempt_id where a.payment_id = $1 and applied_at is null'
      const claimed = 'select 1 from idempotency_key where key = $1'
      const [events, claims] = [
        await testSystem.db.query(stored, [called.id]),
        await testSystem.db.query(claimed, [key]),
      ]
      return events.rowCount === 1 && claims.rowCount === 1 ? true : null
    }, 'callback and payment to be stored')
    await testSystem.kill('api', { stayDown: true })
    await unanswered
    frozen.thaw()
    await inOpening.release()
  }, 120_000)

  test('the relay signals a callback that was stored before the api was killed, while the api is down', async () => {
    expect(testSystem.system.children.get('api')?.pid()).toBeNull()
    // The poll a minute later would find the money too, but it repeats no callback.
    const isApplied =
      'select 1 from partner_callback e join attempt a on a.id = e.attempt_id where payment_id = $1 and repeats > 0 and applied_at is not null'
    await until(
      async () => ((await testSystem.db.query(isApplied, [called.id])).rowCount === 1 ? true : null),
      'the relay to pass the callback on',
      SIGNALED_WITHIN_MS,
    )
    await until(async () => {
      const { rows } = await testSystem.db.query('select status from payment where id = $1', [called.id])
      return rows[0].status === 'succeeded' ? true : null
    }, 'the payment to succeed')
    await testSystem.system.children.get('api')?.start()
    await deliveredEvents(testSystem.merchant, called.id)
  }, 120_000)

  test('a payment that was stored before the api was killed is returned for the same key', async () => {
    const again = await testSystem.merchant.create(order, key)
    const { rows } = await testSystem.db.query(
      'select payment.id from payment join idempotency_key k on k.body::jsonb->>$1 = payment.id where key = $2',
      ['id', key],
    )
    expect(rows).toEqual([{ id: again.id }])
    await testSystem.pay(again)
    await success(testSystem, again.id)
    await expectSucceeded(testSystem, [again])
  }, 120_000)

  test('the relay starts the workflow of a payment that was answered before the api was killed', async () => {
    await testSystem.pay(answered)
    await success(testSystem, answered.id)
    await expectSucceeded(testSystem, [answered])
  }, 120_000)

  test('a buyer who presses again after the api was killed gets the same order', async () => {
    await inOpening.paying
    await success(testSystem, inOpening.payment.id)
    const { rows } = await testSystem.db.query('select count(*)::int from attempt where payment_id = $1', [
      inOpening.payment.id,
    ])
    expect(rows).toEqual([{ count: 1 }])
    await expectSucceeded(testSystem, [inOpening.payment])
  }, 120_000)
})
