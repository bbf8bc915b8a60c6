import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { pino } from 'pino'
import { until } from '../../scripts/test/until.ts'
import { readStarts } from '../../src/db/payments/payment-starts.ts'
import { newId } from '../../src/ids.ts'
import { createPaymentWorkflows, type PaymentWorkflows } from '../../src/temporal/payments.ts'
import { createRelay } from '../../src/worker/relay.ts'
import { type CheckoutFixture, createCheckoutFixture } from '../api/checkout/checkout-fixture.ts'
import { useTemporal } from '../temporal/temporal-server.ts'

let fixture: CheckoutFixture
beforeAll(async () => {
  fixture = await createCheckoutFixture()
})
afterAll(() => fixture.close())
const temporal = useTemporal()

type Run = { readonly workflowId: string; readonly shows: string }

/** Open payments an hour old, as copies of one. Returns their ids in order. */
async function storeOpen(count: number): Promise<string[]> {
  const { id: template } = await fixture.create()
  const ids = Array.from({ length: count }, () => newId('payment')).sort()
  await fixture.db.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', copy, 'checkout_token', copy,
       'created_at', now() - interval '1 hour'))).* from payment p, unnest($1::text[]) as copy where p.id = $2`,
    [ids, template],
  )
  return ids
}

/** A relay with a Temporal whose running workflows are these, and its queries. */
function relayBeside(
  running: readonly Run[],
  { whileListing, ...options }: { orphanPage?: number; whileListing?: () => Promise<unknown> } = {},
) {
  const runs = new Map(running.map((run) => [run.workflowId, run]))
  const resumed: string[] = []
  const reported: string[] = []
  let listed = 0
  const find = (query = ''): Run[] => {
    const [, first = '', last = 'z'] = /WorkflowId BETWEEN '(\w+)' AND '(\w+)'/.exec(query) ?? []
    const [, status] = /PaymentStatus = '(\w+)'/.exec(query) ?? []
    return [...runs.values()].filter(
      ({ workflowId, shows }) => workflowId >= first && workflowId <= last && shows === (status ?? shows),
    )
  }
  const list = async function* ({ query }: { query: string }) {
    await whileListing?.()
    for (const { workflowId, shows } of find(query)) {
      listed += 1
      yield { workflowId, typedSearchAttributes: { get: () => shows } }
    }
  }
  const count = async (query?: string) => ({ count: find(query).length })
  const workflows: Partial<PaymentWorkflows> = {
    resume: async ({ id, status }) => {
      runs.set(id, { workflowId: id, shows: status })
      return resumed.push(id) > 0
    },
    signalRowChanged: async (id) => void reported.push(id),
  }
  const relay = createRelay({
    db: fixture.db,
    client: { workflow: { list, count } } as unknown as Pick<Client, 'workflow'>,
    workflows: workflows as PaymentWorkflows,
    refunds: { wake: async () => undefined },
    clock: Date.now,
    log: pino({ level: 'silent' }),
    ...options,
  })
  return { relay, runs, resumed, reported, listed: () => listed }
}

const showing = (ids: readonly string[]): Run[] => ids.map((workflowId) => ({ workflowId, shows: 'created' }))

describe('A payment that lost its workflow', () => {
  afterEach(() => fixture.db.query('update payment set closed_at = now()'))

  test('a lost workflow is started again at the start, however many other payments have one', async () => {
    const ids = await storeOpen(1001)
    const lost = ids.at(-1)
    const { relay, resumed } = relayBeside(showing(ids.slice(0, -1)))
    expect(await relay.adoptOrphans()).toBe(1)
    expect(resumed).toEqual([lost])
  })

  test('a lost workflow is searched for among all payments if it is missing in two counts', async () => {
    const ids = await storeOpen(9)
    const { relay, runs, resumed } = relayBeside(showing(ids), { orphanPage: 2 })
    await relay.adoptOrphans()
    const [lost = ''] = ids
    runs.delete(lost)
    await relay.adoptOrphans()
    expect(resumed).toEqual([])
    await relay.adoptOrphans()
    expect(resumed).toEqual([lost])
  })

  test('a lost workflow is found in its turn if another run makes up for it in the counts', async () => {
    const ids = await storeOpen(9)
    const others = showing([...ids.slice(0, -1), newId('payment')])
    const { relay, resumed, listed } = relayBeside(others, { orphanPage: 2 })
    for (let round = 1; round <= 4; round++) {
      await relay.adoptOrphans()
      expect([resumed, listed()]).toEqual([[], 2 * round])
    }
    await relay.adoptOrphans()
    expect(resumed).toEqual(ids.slice(-1))
  })

  test('a lost workflow is not searched for among all again while its run exists and Temporal does not list it', async () => {
    const ids = await storeOpen(9)
    const { relay, runs, listed } = relayBeside(showing(ids), { orphanPage: 2 })
    const [hidden = ''] = ids
    runs.delete(hidden)
    runs.set = () => runs
    for (let round = 1; round <= 5; round++) await relay.adoptOrphans()
    // The first of the five pages shows one run. It was compared alone, with all others, and in its turn.
    expect(listed()).toBe(3)
  })

  test('a lost workflow is found in the eleventh walk if the run of a closed payment makes up for it in the counts', async () => {
    const [lost = '', closed = '', ...others] = await storeOpen(4)
    await fixture.db.query('update payment set closed_at = now() where id = $1', [closed])
    const { relay, runs, resumed, listed } = relayBeside(showing([lost, ...others]))
    await relay.adoptOrphans()
    runs.delete(lost)
    runs.set(closed, { workflowId: closed, shows: 'created' })
    for (let walk = 2; walk <= 10; walk++) await relay.adoptOrphans()
    // Only the first walk had to list runs.
    expect([resumed, listed()]).toEqual([[], 3])
    await relay.adoptOrphans()
    expect(resumed).toEqual([lost])
  })

  test('a lost workflow is found in the lists and counts of a real Temporal', async () => {
    const connection = await Connection.connect({ address: temporal.address })
    const client = new Client({ connection })
    try {
      const load = async (id: string) => (await readStarts(fixture.db, [id]))[0]!
      const workflows = createPaymentWorkflows({ client, taskQueue: 'nobody', load })
      const ids = await storeOpen(5)
      await fixture.db.query('update payment set closed_at = now() where id <> all($1)', [ids])
      const lost = ids.at(-1)!
      for (const id of ids) if (id !== lost) await workflows.start(await load(id))
      const count = async () => (await client.workflow.count()).count
      await until(count, (counted) => counted === 4)
      // A minute later, when the runs are old enough to be counted.
      const clock = () => Date.now() + 60_000
      const relay = createRelay({
        db: fixture.db,
        client,
        workflows,
        refunds: { wake: async () => undefined },
        clock,
        log: pino({ level: 'silent' }),
        orphanPage: 2,
      })
      expect(await relay.adoptOrphans()).toBe(1)
      expect((await client.workflow.getHandle(lost).describe()).status.name).toBe('RUNNING')
      await until(count, (counted) => counted === 5)
      expect(await relay.adoptOrphans()).toBe(0)
    } finally {
      await connection.close()
    }
  })

  test('a lost workflow is not started if the payment has closed after it was read', async () => {
    const [closing, open = ''] = await storeOpen(2)
    const close = () => fixture.db.query('update payment set closed_at = now() where id = $1', [closing])
    const { relay, resumed } = relayBeside(showing([open]), { whileListing: close })
    await relay.adoptOrphans()
    expect(resumed).toEqual([])
  })
})

test('a run that does not show the status of its row is signaled after two minutes, once for each version', async () => {
  const { id } = await fixture.create()
  const age = (seconds: number) =>
    fixture.db.query(
      `update payment set status = 'under_review', version = version + 1,
         created_at = now() - interval '1 hour', updated_at = now() - $1 * interval '1 second' where id = $2`,
      [seconds, id],
    )
  const stale = relayBeside([{ workflowId: id, shows: 'created' }])
  await age(90)
  await stale.relay.adoptOrphans()
  expect(stale.reported).toEqual([])
  await age(150)
  await stale.relay.adoptOrphans()
  await stale.relay.adoptOrphans()
  expect(stale.reported).toEqual([id])
  await age(150)
  await stale.relay.adoptOrphans()
  expect(stale.reported).toEqual([id, id])

  const aware = relayBeside([{ workflowId: id, shows: 'under_review' }])
  await aware.relay.adoptOrphans()
  expect(aware.reported).toEqual([])
})
