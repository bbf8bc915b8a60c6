import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { pino } from 'pino'
import type { WorkerConfig } from '../../src/config/config.ts'
import { loadPayment } from '../../src/db/payments/payments.ts'
import { relayLoops } from '../../src/deps/loops.ts'
import type { ActivityAnswer } from '../../src/domain/payment/snapshot.ts'
import { newId } from '../../src/ids.ts'
import { changeLockedPayment } from '../../src/payments/change-payment.ts'
import type { PaymentWorkflows } from '../../src/temporal/payments.ts'
import { createDeliverySweep } from '../../src/worker/delivery-sweep.ts'
import { createRelay, PER_ROUND } from '../../src/worker/relay.ts'
import { createWorkWakeups } from '../../src/worker/work-look.ts'
import { type CheckoutFixture, createCheckoutFixture } from '../api/checkout/checkout-fixture.ts'
import { addEndpoint } from '../webhooks/seed.ts'

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  await fixture.db.query('delete from outbox')
})

const log = pino({ level: 'silent' })

/** Stores a message about each of so many payments, copies of one. Returns their ids in the order of the messages. */
async function storeMessages(count: number): Promise<string[]> {
  const { id: template } = await fixture.create()
  const ids = Array.from({ length: count }, () => newId('payment')).sort()
  await fixture.db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', copy, 'checkout_token', copy))).*
     from payment p, unnest($1::text[]) as copy where p.id = $2`,
    [ids, template],
  )
  await fixture.db.query(
    `insert into outbox (kind, subject) select 'payment_changed', id from unnest($1::text[]) as id order by id`,
    [ids],
  )
  return ids
}

/** The relay's loop of these messages, with workflows that cannot be reached for some payments. */
function openLoop(isLost: (id: string) => boolean = () => false) {
  const answers = new Map<string, ActivityAnswer>()
  const workflows: Partial<PaymentWorkflows> = {
    completeSettlement: async (id, answer) => {
      if (isLost(id)) throw new Error('Temporal does not answer')
      answers.set(id, answer)
      return true
    },
  }
  const client = {} as Pick<Client, 'workflow'>
  const { db } = fixture
  const refunds = { wake: async () => undefined }
  const relay = createRelay({ db, client, workflows: workflows as PaymentWorkflows, refunds, clock: Date.now, log })
  const sweep = createDeliverySweep({ db, client, now: Date.now, taskQueue: 'deliveries' })
  const config = { RELAY_TICK_MS: 1000, SETTLEMENT_TICK_MS: 1000 } as WorkerConfig
  const loops = relayLoops(config, { relay, sweep, wakeups: createWorkWakeups(), log })
  const loop = loops.find(({ name }) => name === 'changes')
  if (loop === undefined) throw new Error('the relay has no such loop')
  return { tick: loop.tick, pageSize: loop.idle?.pageSize, answers }
}

const countMessages = async () => (await fixture.db.query(`select from outbox where kind = 'payment_changed'`)).rowCount

test('a full page of messages, of which one could not be sent, is followed by the next page at once', async () => {
  const [lost, ...others] = await storeMessages(PER_ROUND + 1)
  const { tick, pageSize, answers } = openLoop((id) => id === lost)
  expect(await tick()).toBe(pageSize)
  expect(answers.size).toBe(PER_ROUND - 1)
  expect(await tick()).toBe(0)
  expect([...answers.keys()].sort()).toEqual(others)
  expect(await countMessages()).toBe(1)
})

test('a full page of messages, of which none could be sent, is tried again after a pause', async () => {
  await storeMessages(PER_ROUND)
  const { tick, pageSize } = openLoop(() => true)
  const found = await tick()
  expect([0, pageSize]).not.toContain(found)
  expect(await countMessages()).toBe(PER_ROUND)
})

test('the last page of messages is followed by a wait for the next change', async () => {
  await storeMessages(1)
  expect(await openLoop().tick()).toBe(0)
  expect(await countMessages()).toBe(0)
})

test('a payment that was changed twice before the relay ran passes the events of both changes on', async () => {
  const { id } = await fixture.create()
  const { payment } = await loadPayment(fixture.db, id)
  await addEndpoint(fixture.db, payment, { enabledEvents: ['payment.processing', 'payment.under_review'] })
  const context = { publicUrl: fixture.url, now: Date.now }
  const attemptId = newId('attempt')
  const events: string[] = []
  for (const status of ['confirming', 'on_hold'] as const) {
    const changed = await fixture.db.transaction((tx) =>
      changeLockedPayment(tx, context, {
        id,
        change: ({ addAttempt, setAttempt, relayChange }) => {
          addAttempt({ id: attemptId, provider: 'wallet_app', method: 'banking_app', asked: payment.amount })
          setAttempt(attemptId, { status })
          relayChange()
        },
      }),
    )
    events.push(...changed.events)
  }
  expect(events).toHaveLength(2)
  const { tick, answers } = openLoop()
  await tick()
  expect(answers.get(id)?.events).toEqual(events)
})
