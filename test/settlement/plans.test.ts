import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db } from '../../src/db/db.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { createWorld, TOKEN, type World } from '../chain/world.ts'
import { fillSettled, GROWING } from '../support/settled.ts'

/** Nothing that the engine does may cost more with every payout that was ever settled. */

/** So many that reading a whole table is dearer than any index. */
const SETTLED = 20_000

let world: World
beforeAll(async () => {
  world = await createWorld()
  await fillSettled(world.db, {
    count: SETTLED,
    chainId: TOKEN.chainId,
    token: TOKEN.address,
    treasury: world.treasury.address.toLowerCase() as Hex,
    withBytes: true,
  })
  await world.db.query('analyze')
}, 60_000)
afterAll(() => world?.stop())

type Plan = { 'Node Type': string; 'Actual Loops': number; 'Relation Name'?: string; Plans?: Plan[] }
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
const scansOf = (plan: Plan): string[] =>
  nodesOf(plan).flatMap((node) =>
    node['Node Type'] === 'Seq Scan' && (GROWING as readonly string[]).includes(node['Relation Name'] ?? '')
      ? [node['Relation Name'] as string]
      : [],
  )

/** Each statement that passes with its plan at that moment: Postgres chooses it for these values and these tables. */
function planned(db: Db, plans: Map<string, string[]>): Db {
  const explain = async (on: Pick<Db, 'query'>, text: string, values?: unknown[]): Promise<void> => {
    if (plans.has(text) || !/^\s*(?:select|with|insert|update|delete)\b/i.test(text)) return
    const { rows } = await on.query(`explain (format json) ${text}`, values)
    const [{ Plan: plan }] = (rows as { 'QUERY PLAN': [{ Plan: Plan }] }[])[0]!['QUERY PLAN']
    plans.set(text, scansOf(plan))
  }
  const watched = <T extends Pick<Db, 'query'>>(on: T): T => ({
    ...on,
    async query(text: string, values?: unknown[]) {
      await explain(on, text, values)
      return on.query(text, values)
    },
  })
  return { ...watched(db), transaction: (work) => db.transaction((tx) => work(watched(tx))) }
}

test('no statement of signing, sending, observing and settling reads a whole table of what was ever settled', async () => {
  const hooks = createSettlementHooks({ publicUrl: 'https://pay.example', now: Date.now })
  const plans = new Map<string, string[]>()
  const queued = await world.queue([{}, {}, {}])
  await world.db.query(
    `update payment p set status = 'settling', net_micro = o.micro_usdc, gross_micro = o.micro_usdc, fee_micro = 0, rate = '1'
     from payout o where o.payment_id = p.id and p.status = 'created'`,
  )
  const runner = world.runner({ db: planned(world.db, plans), hooks, options: { startBlock: 0 } })
  await world.finalize(runner, 3)
  for (const { paymentId } of queued) expect((await world.payout(paymentId)).state).toBe('settled')
  const { figures } = runner
  await Promise.all([figures.queue(), figures.cursor(), figures.lanes(), figures.attention()])
  expect(plans.size).toBeGreaterThan(40)
  const scanning = [...plans].filter(([, scans]) => scans.length > 0)
  expect(scanning.map(([text, scans]) => `${scans.join()}: ${text.replace(/\s+/g, ' ').slice(0, 160)}`)).toEqual([])
})

test('payouts that are on their way are not asked one by one whether their lane gets through', async () => {
  await world.queue(Array.from({ length: 300 }, () => ({})))
  await world.runner({ options: { startBlock: 0 } }).tick()
  const { rows: before } = await world.db.query(`select count(*)::int as sent from payout where state = 'assigned'`)
  expect(before[0]).toEqual({ sent: 300 })
  const loops: number[] = []
  const measured: Db = {
    ...world.db,
    transaction: (work) =>
      world.db.transaction((tx) =>
        work({
          ...tx,
          async query(text, values) {
            // Nothing is stranded, so it may be executed twice.
            const { rows } = await tx.query(`explain (analyze, format json) ${text}`, values)
            loops.push(...nodesOf(rows[0]!['QUERY PLAN'][0].Plan).map((node) => node['Actual Loops']))
            return tx.query(text, values)
          },
        }),
      ),
  }
  const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
  const journal = createSettlementJournal({ db: measured, scope, hooks: {} as SettlementHooks })
  const carriers = world.relayers.map(({ address }) => address.toLowerCase() as Hex)
  expect(await journal.freeStranded({ idleMs: 30_000, slow: [], carriers })).toEqual([])
  expect(loops.length).toBeGreaterThan(3)
  expect(Math.max(...loops)).toBeLessThan(20)
})
