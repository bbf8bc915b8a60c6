import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { pino } from 'pino'
import { lateMoneyWorkflowId } from '../../src/domain/ids.ts'
import type { PaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../api/checkout/checkout-world.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())

/** More than are looked at in one statement. */
const LATE = 1001
const attemptOf = (index: number) => `att_late_${String(index).padStart(4, '0')}`

/** A closed payment with so many orders of which money came too late, each a second later. */
async function storeLate(): Promise<void> {
  const { id } = await world.create()
  await world.db.query(`update payment set status = 'expired', closed_at = now(), listen_ended = true where id = $1`, [
    id,
  ])
  const attempts = Array.from({ length: LATE }, (_, index) => attemptOf(index))
  await world.db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     select attempt, $1, 'wallet_app', 'banking_app', 'late', 4999, 'EUR', now(), now() from unnest($2::text[]) as attempt`,
    [id, attempts],
  )
  await world.db.query(
    `insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, state, at)
     select $1, attempt, attempt, 'receipt', 'EUR', 4999, 4999, 'late', now() + n * interval '1 second'
     from unnest($2::text[]) with ordinality as t(attempt, n)`,
    [id, attempts],
  )
}

/** A relay beside a Temporal whose running workflows are these, and what it asks of it. */
function relayBeside(running: Readonly<Record<string, readonly { workflowId: string; shows: string }[]>>) {
  const opened: string[] = []
  const told: string[] = []
  const list = async function* ({ query }: { query: string }) {
    for (const [type, those] of Object.entries(running))
      if (query.includes(`'${type}'`))
        for (const { workflowId, shows } of those) yield { workflowId, typedSearchAttributes: { get: () => shows } }
  }
  const workflows: Partial<PaymentWorkflows> = {
    openLateMoney: async ({ attemptId }) => opened.push(attemptId) > 0,
    tellRowChanged: async (id) => void told.push(id),
  }
  const relay = createRelay({
    db: world.db,
    client: { workflow: { list } } as unknown as Pick<Client, 'workflow'>,
    workflows: workflows as PaymentWorkflows,
    clock: Date.now,
    log: pino({ level: 'silent' }),
  })
  return { relay, opened, told }
}

test('late money that lost its workflow gets one again, however much other late money waits', async () => {
  await storeLate()
  const lost = attemptOf(LATE - 1)
  const lateMoney = Array.from({ length: LATE - 1 }, (_, index) => ({
    workflowId: lateMoneyWorkflowId(attemptOf(index)),
    shows: 'late_money',
  }))
  const { relay, opened } = relayBeside({ lateMoney })
  expect(await relay.adoptOrphans()).toBe(1)
  expect(opened).toEqual([lost])
})

test('a run that does not show its row is told of it after a minute, once of each version', async () => {
  const { id } = await world.create()
  const age = (seconds: number) =>
    world.db.query(
      `update payment set status = 'under_review', park_reason = 'underpaid', version = version + 1,
         created_at = now() - interval '1 hour', updated_at = now() - $1 * interval '1 second' where id = $2`,
      [seconds, id],
    )
  const stale = relayBeside({ payment: [{ workflowId: id, shows: 'created' }] })
  await age(30)
  await stale.relay.adoptOrphans()
  expect(stale.told).toEqual([])
  await age(90)
  await stale.relay.adoptOrphans()
  await stale.relay.adoptOrphans()
  expect(stale.told).toEqual([id])
  await age(90)
  await stale.relay.adoptOrphans()
  expect(stale.told).toEqual([id, id])

  const aware = relayBeside({ payment: [{ workflowId: id, shows: 'under_review' }] })
  await aware.relay.adoptOrphans()
  expect(aware.told).toEqual([])
})
