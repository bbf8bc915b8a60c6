import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { deliveredEvents, until } from '../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../scripts/demo/merchant.ts'
import { readBalances } from '../../src/db/ledger.ts'
import { operatorUpdates, rowChanged } from '../../src/workflows/messages.ts'
import {
  atPartner,
  openAndLeave,
  post,
  readAttempts,
  startTestSystem,
  success,
  type TestSystem,
} from './harness/test-system.ts'
import { expectSucceeded } from './harness/verdict.ts'

let testSystem: TestSystem
let terminated: PaymentAnswer
/** Every payment that has succeeded here; at the end all of them are checked together. */
const paid: PaymentAnswer[] = []

beforeAll(async () => {
  testSystem = await startTestSystem()
  // The relay searches for payments without a workflow every 20 s, so this one begins before everything else.
  terminated = await testSystem.create()
  const hold = testSystem.partners.hold({ at: 'request', containing: [`${terminated.id}:convert`] })
  await testSystem.pay(terminated)
  await hold.reached
  await run(terminated).terminate('by hand')
  hold.release()
}, 120_000)
afterAll(async () => {
  await testSystem.stop()
})

async function succeeded(payment: PaymentAnswer): Promise<PaymentAnswer> {
  const final = await success(testSystem, payment.id)
  paid.push(final)
  return final
}

const opening = (payment: PaymentAnswer) => ['POST /wallet-app/v2/orders\n', payment.checkout_url]
const readStatus = async ({ id }: PaymentAnswer) => (await testSystem.merchant.read(id)).status
const untilStatus = (payment: PaymentAnswer, status: string) =>
  until(async () => ((await readStatus(payment)) === status ? true : null), `${payment.id} to be ${status}`)
const run = ({ id }: PaymentAnswer) => testSystem.temporal.workflow.getHandle(id)

describe('Trouble at the checkout', () => {
  test('a double click opens one order', async () => {
    const payment = await testSystem.create()
    const [attemptId] = await Promise.all([1, 2, 3].map(() => openAndLeave(testSystem, payment)))
    expect(await readAttempts(testSystem, payment.id)).toEqual([{ id: attemptId, status: 'open' }])
    await testSystem.pay(payment)
    await succeeded(payment)
  })

  test('a callback that arrives before the buyer has the URL of the order is applied', async () => {
    const payment = await testSystem.create()
    const hold = testSystem.partners.hold({ at: 'answer', containing: opening(payment) })
    const paying = testSystem.pay(payment)
    await hold.reached
    const [attempt] = await readAttempts(testSystem, payment.id)
    await atPartner(testSystem, attempt?.id ?? '', { action: 'pay' })
    await until(async () => {
      const { events } = await testSystem.temporal.workflow.getHandle(payment.id).fetchHistory()
      return events?.some((event) => event.workflowExecutionSignaledEventAttributes) ? true : null
    }, 'the callback to be passed on')
    hold.release()
    await paying
    await succeeded(payment)
  })
})

describe('Money after the end', () => {
  test('a canceled payment whose workflow has closed is settled and marked', async () => {
    const payment = await testSystem.create()
    const attemptId = await openAndLeave(testSystem, payment)
    await cancel(payment)
    await run(payment).result()
    await post(`${testSystem.system.sandboxUrl}/wallet-app/sandbox/faults`, {
      fault: 'late_money',
      attemptId,
      times: 1,
    })
    await atPartner(testSystem, attemptId, { action: 'pay' })
    await untilStatus(payment, 'succeeded')
    expect((await succeeded(payment)).exception).toBe('paid_late')
  })

  test('money after the time for late money is kept in suspense, and an operator gives it back', async () => {
    const payment = await testSystem.create({ provider: 'local_partner', amount: '5000.00', currency: 'INR' })
    const attemptId = await openAndLeave(testSystem, payment, { method: 'upi' })
    await cancel(payment)
    await listenedLongEnough(payment)
    await atPartner(testSystem, attemptId, { action: 'pay' }, 'local-partner')

    await until(async () => ((await suspense()) === '-500000' ? true : null), 'the late money')
    const { version } = await testSystem.merchant.read(payment.id)
    const decision = { operator: 'ada', reason: 'too late', version }
    await run(payment).executeUpdate(operatorUpdates.give_back, { args: [decision] })
    await run(payment).result()
    expect(await readStatus(payment)).toBe('canceled')
    expect(await readAttempts(testSystem, payment.id)).toEqual([{ id: attemptId, status: 'refunded' }])
    expect(await suspense()).toBe('0')
  })

  async function cancel({ id }: PaymentAnswer): Promise<void> {
    const response = await fetch(`${testSystem.system.info.api_url}/v1/payments/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testSystem.system.info.secret_key}` },
    })
    expect(response.status).toBe(200)
  }

  /** The 72 hours of a UPI order are over: its payment was canceled that long ago. */
  async function listenedLongEnough(payment: PaymentAnswer): Promise<void> {
    await testSystem.db.query(`update payment set canceled_at = canceled_at - interval '73 hours' where id = $1`, [
      payment.id,
    ])
    await run(payment).signal(rowChanged)
    expect(await run(payment).result()).toBe('canceled')
  }

  async function suspense(): Promise<string> {
    const balances = await readBalances(testSystem.db)
    return balances.find(({ account, asset }) => account === 'suspense' && asset === 'INR')?.amount ?? '0'
  }
})

describe('Forged and outdated callbacks', () => {
  let payment: PaymentAnswer
  let attemptId: string
  const event = { event_id: `evt_${randomBytes(12).toString('hex')}`, type: 'order.updated' }

  beforeAll(async () => {
    payment = await testSystem.create()
    attemptId = await openAndLeave(testSystem, payment)
  })

  /** As the partner signs it: timestamp and raw body under its secret. */
  function call(order: object, options: { secret?: string; secondsAgo?: number } = {}): Promise<Response> {
    const timestamp = String(Math.floor(Date.now() / 1000) - (options.secondsAgo ?? 0))
    const body = JSON.stringify({
      ...event,
      merchant_id: 'pinrail',
      order: { merchant_order_ref: attemptId, ...order },
    })
    const mac = createHmac('sha256', options.secret ?? testSystem.secrets.walletApp)
    return fetch(`${testSystem.system.info.api_url}/callbacks/wallet_app`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-callback-timestamp': timestamp,
        'x-callback-signature': mac.update(`wallet-app-callback\n${timestamp}\n${body}`).digest('hex'),
      },
      body,
    })
  }

  const stored = async () =>
    (
      await testSystem.db.query('select provider_event_id as id from partner_callback where attempt_id = $1', [
        attemptId,
      ])
    ).rows
  const refusals = (): string[] =>
    readFileSync(join(testSystem.folder, 'logs/api.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"callback refused"'))
      .map((line) => (JSON.parse(line) as { reason: string }).reason)
  const PAID = { state: 'PAID', received: { value: '499000.00', currency: 'EUR' } }

  test('a callback with a forged signature is refused and logged', async () => {
    const before = refusals().length
    expect((await call(PAID, { secret: 'guessed' })).status).toBe(401)
    await until(async () => (refusals()[before] === 'signature' ? true : null), 'the log to say so')
    expect(await stored()).toEqual([])
    expect(await readStatus(payment)).toBe('pending')
  })

  test('an authentic callback that was recorded long ago is refused and logged', async () => {
    const before = refusals().length
    expect((await call(PAID, { secondsAgo: 3600 })).status).toBe(401)
    await until(async () => (refusals()[before] === 'timestamp' ? true : null), 'the log to say so')
    expect(await stored()).toEqual([])
  })

  test('an authentic callback with a wrong amount has no effect: the partner’s order counts', async () => {
    expect((await call(PAID)).status).toBe(200)
    await readings(1)
    expect(await stored()).toEqual([{ id: event.event_id }])
    expect(await readStatus(payment)).toBe('pending')
    expect(await readAttempts(testSystem, payment.id)).toEqual([{ id: attemptId, status: 'open' }])
    await testSystem.pay(payment)
    const { settlement } = await succeeded(payment)
    expect(Number(settlement.net_usdc)).toBeLessThan(100)
  })

  test('a replayed callback is answered, stored once, and has no effect', async () => {
    await deliveredEvents(testSystem.merchant, payment.id)
    await run(payment).result()
    const before = await run(payment).describe()
    expect((await call(PAID)).status).toBe(200)
    expect((await stored()).filter(({ id }) => id === event.event_id)).toHaveLength(1)
    const after = await run(payment).describe()
    expect([after.runId, after.historyLength]).toEqual([before.runId, before.historyLength])
  })

  /** Waits until the workflow has read the order at the partner this number of times. */
  function readings(count: number): Promise<true> {
    return until(async () => {
      const { events } = await run(payment).fetchHistory()
      return (events ?? []).filter((each) => each.markerRecordedEventAttributes).length >= count ? true : null
    }, 'the order to be read')
  }
})

describe('A lost workflow', () => {
  test('a workflow that is terminated by hand while the converter is asked is continued by a new one from the relay', async () => {
    await succeeded(terminated)
  }, 180_000)

  test('every payment in progress continues after Temporal’s database file is deleted', async () => {
    const created = await testSystem.create()
    const opened = await testSystem.create()
    const attemptId = await openAndLeave(testSystem, opened)
    const settling = await testSystem.create()
    const hold = testSystem.chain.hold({ at: 'request', containing: [testSystem.payoutNonce(settling.id)] })
    await testSystem.pay(settling)
    await hold.reached

    await testSystem.kill('temporal', { stayDown: true })
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(testSystem.folder, `temporal.db${suffix}`), { force: true })
    // The buyer pays while Temporal is down.
    await atPartner(testSystem, attemptId, { action: 'pay' })
    await testSystem.system.children.get('temporal')?.start()
    hold.release()

    await testSystem.pay(created)
    for (const payment of [created, opened, settling]) await succeeded(payment)
  }, 240_000)
})

test('every payment was settled once after all the trouble', async () => {
  await expectSucceeded(testSystem, paid)
  const { rows } = await testSystem.db.query(`select id from payment where status not in ('succeeded', 'canceled')`)
  expect(rows).toEqual([])
}, 60_000)
