import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { pino } from 'pino'
import { newId } from '../../src/ids.ts'
import type { PaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../api/checkout/checkout-world.ts'

let world: CheckoutWorld
beforeAll(async () => {
  world = await createCheckoutWorld()
})
afterAll(() => world.close())

/** More payments than are looked at in one statement. */
const OPEN = 1001

/** Open payments, as copies of one. */
async function storeOpen(): Promise<string[]> {
  const { id: template } = await world.create()
  const ids = Array.from({ length: OPEN }, () => newId('payment'))
  await world.db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', copy, 'checkout_token', copy,
       'created_at', now() - interval '1 hour'))).* from payment p, unnest($1::text[]) as copy where p.id = $2`,
    [ids, template],
  )
  return ids
}

/** A relay with a Temporal whose running workflows are these, and what it asks of it. */
function relayBeside(running: Readonly<Record<string, readonly { workflowId: string; shows: string }[]>>) {
  const resumed: string[] = []
  const told: string[] = []
  const list = async function* ({ query }: { query: string }) {
    for (const [type, those] of Object.entries(running))
      if (query.includes(`'${type}'`))
        for (const { workflowId, shows } of those) yield { workflowId, typedSearchAttributes: { get: () => shows } }
  }
  const workflows: Partial<PaymentWorkflows> = {
    resume: async ({ id }) => resumed.push(id) > 0,
    tellRowChanged: async (id) => void told.push(id),
  }
  const relay = createRelay({
    db: world.db,
    client: { workflow: { list } } as unknown as Pick<Client, 'workflow'>,
    workflows: workflows as PaymentWorkflows,
    clock: Date.now,
    log: pino({ level: 'silent' }),
  })
  return { relay, resumed, told }
}

test('a payment that lost its workflow gets one again, however many others have one', async () => {
  const ids = await storeOpen()
  const lost = ids.pop()
  const payment = ids.map((workflowId) => ({ workflowId, shows: 'created' }))
  const { relay, resumed } = relayBeside({ payment })
  expect(await relay.adoptOrphans()).toBe(1)
  expect(resumed).toEqual([lost])
  await world.db.query('update payment set closed_at = now()')
})

test('a run that does not show its row is told of it after a minute, once of each version', async () => {
  const { id } = await world.create()
  const age = (seconds: number) =>
    world.db.query(
      `update payment set status = 'under_review', version = version + 1,
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
