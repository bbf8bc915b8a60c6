import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import type { Db } from '../../src/db/db.ts'
import { watchSettlement } from '../../src/observe/settlement.ts'
import { createSettlementFigures } from '../../src/settlement/figures.ts'
import { createWorld, TOKEN, type World } from '../chain/world.ts'
import { type HostileNode, startHostileNode } from '../support/hostile-node.ts'

/** What operators are told about settlement, on a real chain and database. */

let world: World
let nodes: HostileNode[]
beforeAll(async () => {
  world = await createWorld({ micro: 12_500_000n })
  nodes = await Promise.all([1, 2, 3].map(() => startHostileNode(world.anvil.url)))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  await world.stop()
})

let statements = 0
beforeEach(() => {
  statements = 0
})
const counted = (db: Db): Db => ({
  ...db,
  query(text: string, values?: unknown[]) {
    statements += 1
    return db.query(text, values)
  },
})

function page(clock: () => Date) {
  const rpc = connectRpc({ urls: nodes.map(({ url }) => url), quorum: 2, chainId: TOKEN.chainId, timeoutMs: 500 })
  const chain = { rpc, token: TOKEN, treasuries: [{ address: world.treasury.address }], relayers: world.relayers }
  const registry = new Registry()
  const figures = createSettlementFigures({
    db: counted(world.db),
    chain: { ...chain, funding: null } as unknown as Parameters<typeof createSettlementFigures>[0]['chain'],
    clock,
  })
  watchSettlement(registry, figures)
  return { rpc, text: () => registry.metrics() }
}
const calls = (): number => nodes.reduce((sum, node) => sum + node.calls.length, 0)

test('tell queue, cursor, lanes and balances with four statements a page, and one call of one node in half a minute', async () => {
  const wallet = world.relayers[0]!.address.toLowerCase()
  await world.queue([{ micro: 1_500_000n }])
  await world.finalize(world.runner())
  await world.queue([{ micro: 2_000_000n }])
  await world.db.query(`update payout set created_at = now() - interval '90 seconds' where state = 'queued'`)
  await world.db.query(
    `update chain_cursor set scanned_at = now() - interval '70 seconds', deposits_number = scanned_number - 4`,
  )
  let now = new Date()
  const { rpc, text } = page(() => now)
  await rpc.newest()
  const before = calls()
  const told = await text()
  expect(told).toContain('pinrail_payouts{state="queued",reason="none"} 1\n')
  expect(told).toContain('pinrail_payouts_usdc{state="queued",reason="none"} 2\n')
  expect(told).toMatch(/pinrail_payouts_oldest_seconds\{state="queued",reason="none"\} 9\d\./)
  expect(told).toMatch(/^pinrail_cursor_age_seconds 7\d\./m)
  expect(told).toMatch(/^pinrail_cursor_block \d+$/m)
  expect(told).toMatch(/^pinrail_cursor_lag_blocks \d+$/m)
  expect(told).toMatch(/^pinrail_cursor_deposits_behind_blocks 4$/m)
  expect(told).toMatch(/^pinrail_settlement_paused 0$/m)
  expect(told).toContain(`pinrail_lane{wallet="${wallet}",status="open"} 1\n`)
  expect(told).toContain(`pinrail_lane_unmined_seconds{wallet="${wallet}"} 0\n`)
  expect(told).toContain(`pinrail_treasury_usdc{wallet="${world.treasury.address.toLowerCase()}",role="current"} 11\n`)
  expect(told).toMatch(new RegExp(`pinrail_gas_pol\\{wallet="${wallet}",role="relayer"\\} \\d+`))
  expect(told).toContain('pinrail_node{node="rpc1",state="good"} 1\n')
  expect(told).toMatch(/pinrail_node_calls_total\{node="rpc\d",method="eth_getBlockByNumber"\} 1\n/)
  expect(told).toMatch(/^pinrail_nodes_spare 1$/m)
  expect([statements, calls() - before]).toEqual([4, 1])
  now = new Date(now.getTime() + 29_000)
  expect(await text()).toContain('role="current"} 11\n')
  expect([statements, calls() - before]).toEqual([8, 1])
  now = new Date(now.getTime() + 2000)
  await text()
  expect(calls() - before).toBe(2)
  // A clock that was set back: they were told as they were for as long as it had been ahead.
  now = new Date(now.getTime() - 3_600_000)
  await text()
  expect(calls() - before).toBe(3)
})

test('tell a cursor that moves as young: the age is since it moved, and not since somebody looked', async () => {
  const runner = world.runner()
  await world.finalize(runner)
  await world.db.query(`update chain_cursor set scanned_at = now() - interval '1 hour'`)
  await runner.tick()
  const { text } = page(() => new Date())
  expect(await text()).toMatch(/^pinrail_cursor_age_seconds 36\d\d\./m)
  await world.chain.mine({ blocks: 3 })
  await runner.tick()
  expect(await text()).toMatch(/^pinrail_cursor_age_seconds \d{1,2}(?:\.|$)/m)
})

test('tell trouble: a stopped lane, a pause, a hook that fails, a node that is silent', async () => {
  const [queued] = await world.queue([{}])
  await world.db.query(`update payout set hook_error = 'no', updated_at = now() where payment_id = $1`, [
    queued!.paymentId,
  ])
  await world.db.query(`update lane set status = 'quarantined', status_reason = 'strange'`)
  await world.db.query(`update chain_cursor set paused_reason = 'strange'`)
  for (const silent of nodes.slice(1))
    silent.behave = () => ({ status: 429, text: 'slower', headers: { 'retry-after': '30' } })
  const { rpc, text } = page(() => new Date())
  await rpc.newest().catch(() => undefined)
  const told = await text()
  expect(told).toMatch(/^pinrail_settlement_paused 1$/m)
  expect(told).toMatch(/pinrail_lane\{.*status="quarantined"\} 1/)
  expect(told).toContain('pinrail_settlement_attention{kind="payout_hook"} 1\n')
  expect(told).toContain('pinrail_settlement_attention{kind="lane"} 1\n')
  expect(told).toMatch(/pinrail_node\{node="rpc3",state="resting"\} 1/)
  expect(told).toMatch(/pinrail_node_failures_total\{node="rpc3"\} [1-9]/)
  expect(told).toMatch(/^pinrail_nodes_spare -1$/m)
})
