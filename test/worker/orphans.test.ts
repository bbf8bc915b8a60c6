import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { pino } from 'pino'
import { lateMoneyWorkflowId } from '../../src/domain/ids.ts'
import type { PaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../web/checkout-world.ts'

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
    `insert into part (payment_id, attempt_id, key, kind, asset, units, charge_minor, account, state, at)
     select $1, attempt, attempt, 'receipt', 'EUR', 4999, 4999, 'suspense', 'late', now() + n * interval '1 second'
     from unnest($2::text[]) with ordinality as t(attempt, n)`,
    [id, attempts],
  )
}

test('late money that lost its workflow gets one again, however much other late money waits', async () => {
  await storeLate()
  const lost = attemptOf(LATE - 1)
  const running = Array.from({ length: LATE - 1 }, (_, index) => ({
    workflowId: lateMoneyWorkflowId(attemptOf(index)),
  }))
  const opened: string[] = []
  const relay = createRelay({
    db: world.db,
    client: {
      workflow: {
        list: ({ query }: { query: string }) =>
          (async function* () {
            if (query.includes('lateMoney')) yield* running
          })(),
      },
    } as unknown as Pick<Client, 'workflow'>,
    workflows: {
      openLateMoney: async ({ attemptId }) => opened.push(attemptId) > 0,
    } as Partial<PaymentWorkflows> as PaymentWorkflows,
    clock: Date.now,
    log: pino({ level: 'silent' }),
  })
  expect(await relay.adoptOrphans()).toBe(1)
  expect(opened).toEqual([lost])
})
