import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { deliveredEvents, until } from '../../scripts/demo/journey.ts'
import type { PaymentAnswer } from '../../scripts/demo/merchant.ts'
import { readBalances } from '../../src/db/ledger.ts'
import { operatorUpdates, rowChanged } from '../../src/workflows/messages.ts'
import { expectSucceeded } from './harness/verdict.ts'
import { atPartner, openAndLeave, post, readAttempts, startWorld, success, type World } from './harness/world.ts'

let world: World
let terminated: PaymentAnswer
/** Every payment that has succeeded here; at the end all of them are checked together. */
const paid: PaymentAnswer[] = []

beforeAll(async () => {
  world = await startWorld()
  // The relay searches for payments without a workflow every 20 s, so this one begins before everything else.
  terminated = await world.create()
  const hold = world.partners.hold({ at: 'request', containing: [`${terminated.id}:convert`] })
  await world.pay(terminated)
  await hold.reached
  await run(terminated).terminate('by hand')
  hold.release()
}, 120_000)
afterAll(async () => {
  await world.stop()
})

async function succeeded(payment: PaymentAnswer): Promise<PaymentAnswer> {
  const final = await success(world, payment.id)
  paid.push(final)
  return final
}

const opening = (payment: PaymentAnswer) => ['POST /wallet-app/v2/orders\n', payment.checkout_url]
const readStatus = async ({ id }: PaymentAnswer) => (await world.merchant.read(id)).status
const untilStatus = (payment: PaymentAnswer, status: string) =>
  until(async () => ((await readStatus(payment)) === status ? true : null), `${payment.id} to be ${status}`)
const run = ({ id }: PaymentAnswer) => world.temporal.workflow.getHandle(id)

describe('Trouble at the checkout', () => {
  test('a double click opens one order', async () => {
    const payment = await world.create()
    const [attemptId] = await Promise.all([1, 2, 3].map(() => openAndLeave(world, payment)))
    expect(await readAttempts(world, payment.id)).toEqual([{ id: attemptId, status: 'open' }])
    await world.pay(payment)
    await succeeded(payment)
  })

  test('a callback that arrives before the buyer has the URL of the order is applied', async () => {
    const payment = await world.create()
    const hold = world.partners.hold({ at: 'answer', containing: opening(payment) })
    const paying = world.pay(payment)
    await hold.reached
    const [attempt] = await readAttempts(world, payment.id)
    await atPartner(world, attempt?.id ?? '', { action: 'pay' })
    await until(async () => {
      const { events } = await world.temporal.workflow.getHandle(payment.id).fetchHistory()
      return events?.some((event) => event.workflowExecutionSignaledEventAttributes) ? true : null
    }, 'the callback to be passed on')
    hold.release()
    await paying
    await succeeded(payment)
  })
})

describe('Money after the end', () => {
  test('a canceled payment whose workflow has closed is settled and marked', async () => {
    const payment = await world.create()
    const attemptId = await openAndLeave(world, payment)
    await cancel(payment)
    await run(payment).result()
    await post(`${world.system.sandboxUrl}/wallet-app/sandbox/faults`, { fault: 'late_money', attemptId, times: 1 })
    await atPartner(world, attemptId, { action: 'pay' })
    await untilStatus(payment, 'succeeded')
    expect((await succeeded(payment)).exception).toBe('paid_late')
  })

  test('money after the time for late money is kept in suspense, and an operator gives it back', async () => {
    const payment = await world.create({ provider: 'local_partner', amount: '5000.00', currency: 'INR' })
    const attemptId = await openAndLeave(world, payment, { method: 'upi' })
    await cancel(payment)
    await listenedLongEnough(payment)
    await atPartner(world, attemptId, { action: 'pay' }, 'local-partner')

    await until(async () => ((await suspense()) === '-500000' ? true : null), 'the late money')
    const { version } = await world.merchant.read(payment.id)
    const decision = { operator: 'ada', reason: 'too late', version }
    await run(payment).executeUpdate(operatorUpdates.give_back, { args: [decision] })
    await run(payment).result()
    expect(await readStatus(payment)).toBe('canceled')
    expect(await readAttempts(world, payment.id)).toEqual([{ id: attemptId, status: 'refunded' }])
    expect(await suspense()).toBe('0')
  })

  async function cancel({ id }: PaymentAnswer): Promise<void> {
    const response = await fetch(`${world.system.info.api_url}/v1/payments/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.system.info.secret_key}` },
    })
    expect(response.status).toBe(200)
  }

  /** The 72 hours of a UPI order are over: its payment was canceled that long ago. */
  async function listenedLongEnough(payment: PaymentAnswer): Promise<void> {
    await world.db.query(`update payment set canceled_at = canceled_at - interval '73 hours' where id = $1`, [
      payment.id,
    ])
    await run(payment).signal(rowChanged)
    expect(await run(payment).result()).toBe('canceled')
  }

  async function suspense(): Promise<string> {
    const balances = await readBalances(world.db)
    return balances.find(({ account, asset }) => account === 'suspense' && asset === 'INR')?.amount ?? '0'
  }
})

describe('Forged and outdated callbacks', () => {
  let payment: PaymentAnswer
  let attemptId: string
  const event = { event_id: `evt_${randomBytes(12).toString('hex')}`, type: 'order.updated' }

  beforeAll(async () => {
    payment = await world.create()
    attemptId = await openAndLeave(world, payment)
  })

  /** As the partner signs it: timestamp and raw body under its secret. */
  function call(order: object, options: { secret?: string; secondsAgo?: number } = {}): Promise<Response> {
    const timestamp = String(Math.floor(Date.now() / 1000) - (options.secondsAgo ?? 0))
    const body = JSON.stringify({
      ...event,
      merchant_id: 'pinrail',
      order: { merchant_order_ref: attemptId, ...order },
    })
    const mac = createHmac('sha256', options.secret ?? world.secrets.walletApp)
    return fetch(`${world.system.info.api_url}/callbacks/wallet_app`, {
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
    (await world.db.query('select provider_event_id as id from partner_event where attempt_id = $1', [attemptId])).rows
  const refusals = (): string[] =>
    readFileSync(join(world.folder, 'logs/api.log'), 'utf8')
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
    expect(await readAttempts(world, payment.id)).toEqual([{ id: attemptId, status: 'open' }])
    await world.pay(payment)
    const { settlement } = await succeeded(payment)
    expect(Number(settlement.net_usdc)).toBeLessThan(100)
  })

  test('a replayed callback is answered, stored once, and has no effect', async () => {
    await deliveredEvents(world.merchant, payment.id)
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
    const created = await world.create()
    const opened = await world.create()
    const attemptId = await openAndLeave(world, opened)
    const settling = await world.create()
    const hold = world.chain.hold({ at: 'request', containing: [world.payoutNonce(settling.id)] })
    await world.pay(settling)
    await hold.reached

    await world.kill('temporal', { stayDown: true })
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(world.folder, `temporal.db${suffix}`), { force: true })
    // The buyer pays while Temporal is down.
    await atPartner(world, attemptId, { action: 'pay' })
    await world.system.children.get('temporal')?.start()
    hold.release()

    await world.pay(created)
    for (const payment of [created, opened, settling]) await succeeded(payment)
  }, 240_000)
})

test('every payment was settled once after all the trouble', async () => {
  await expectSucceeded(world, paid)
  const { rows } = await world.db.query(`select id from payment where status not in ('succeeded', 'canceled')`)
  expect(rows).toEqual([])
}, 60_000)
