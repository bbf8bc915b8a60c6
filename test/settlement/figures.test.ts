import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { poll } from '../../scripts/system/waiting.ts'
import { createDepositKeys } from '../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../src/chain/rpc/rpc.ts'
import type { Db } from '../../src/db/db.ts'
import { readBalances } from '../../src/db/ledger.ts'
import { createNotifier, listen } from '../../src/db/notices.ts'
import type { SettlementHooks } from '../../src/db/settlement/context.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { TreasuryMovement } from '../../src/domain/settlement/payout.ts'
import { acknowledge } from '../../src/operator/payouts.ts'
import { openRegistry } from '../../src/runtime/registry.ts'
import { watchSettlement } from '../../src/runtime/settlement.ts'
import { usdcAdminAbi } from '../../src/sandbox/chain.ts'
import { createSettlementFigures } from '../../src/settlement/figures.ts'
import { createSettlementHooks } from '../../src/settlement/hooks.ts'
import { addAwaited } from '../chain/deposits/awaited.ts'
import { createFixture, createSettings, type Fixture, newAddress, TOKEN } from '../chain/fixture.ts'
import { type HostileNode, startHostileNode } from '../support/hostile-node.ts'
import { fillSettled, GROWING } from '../support/settled.ts'

describe('the figures of settlement', () => {
  /** The figures of settlement for operators, on a real chain and database. */

  let fixture: Fixture
  let nodes: HostileNode[]
  beforeAll(async () => {
    fixture = await createFixture({ micro: 12_500_000n })
    nodes = await Promise.all([1, 2, 3].map(() => startHostileNode(fixture.anvil.url)))
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()))
    await fixture.stop()
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
    const chain = { rpc, token: TOKEN, treasuries: [{ address: fixture.treasury.address }], relayers: fixture.relayers }
    const registry = openRegistry('pinrail-test')
    const figures = createSettlementFigures({
      db: counted(fixture.db),
      chain: { ...chain, funding: null } as unknown as Parameters<typeof createSettlementFigures>[0]['chain'],
      clock,
    })
    watchSettlement(registry, figures)
    return { rpc, text: () => registry.page() }
  }
  const calls = (): number => nodes.reduce((sum, node) => sum + node.calls.length, 0)

  test('the figures of queue, cursor, lanes, parts and balances need five statements a page, and one call of one node in half a minute', async () => {
    const wallet = fixture.relayers[0]!.address.toLowerCase()
    await addAwaited(fixture.db, createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId), 'behind')
    await fixture.queue([{ micro: 1_500_000n }])
    await fixture.finalize(fixture.runner())
    await fixture.queue([{ micro: 2_000_000n }])
    await fixture.db.query(`update payout set created_at = now() - interval '90 seconds' where state = 'queued'`)
    await fixture.db.query(
      `update chain_cursor set scanned_at = now() - interval '70 seconds', deposits_number = scanned_number - 4`,
    )
    let now = new Date()
    const { rpc, text } = page(() => now)
    await rpc.newest()
    const before = calls()
    const metrics = await text()
    expect(metrics).toContain('pinrail_payouts{state="queued",reason="none"} 1\n')
    expect(metrics).toContain('pinrail_payouts_usdc{state="queued",reason="none"} 2\n')
    expect(metrics).toMatch(/pinrail_payouts_oldest_seconds\{state="queued",reason="none"\} 9\d\./)
    expect(metrics).toMatch(/^pinrail_cursor_age_seconds 7\d\./m)
    expect(metrics).toMatch(/^pinrail_cursor_block \d+$/m)
    expect(metrics).toMatch(/^pinrail_cursor_lag_blocks \d+$/m)
    expect(metrics).toMatch(/^pinrail_cursor_deposits_behind_blocks 4$/m)
    expect(metrics).toMatch(/^pinrail_settlement_paused 0$/m)
    expect(metrics).toContain(`pinrail_lane{wallet="${wallet}",status="open"} 1\n`)
    expect(metrics).toContain(`pinrail_lane_unmined_seconds{wallet="${wallet}"} 0\n`)
    expect(metrics).toContain(
      `pinrail_treasury_usdc{wallet="${fixture.treasury.address.toLowerCase()}",role="current"} 11\n`,
    )
    expect(metrics).toMatch(new RegExp(`pinrail_gas_pol\\{wallet="${wallet}",role="relayer"\\} \\d+`))
    expect(metrics).toContain('pinrail_node{node="rpc1",state="good"} 1\n')
    expect(metrics).toMatch(/pinrail_node_calls_total\{node="rpc\d",method="eth_getBlockByNumber"\} 1\n/)
    expect(metrics).toMatch(/^pinrail_nodes_spare 1$/m)
    expect([statements, calls() - before]).toEqual([5, 1])
    now = new Date(now.getTime() + 29_000)
    expect(await text()).toContain('role="current"} 11\n')
    expect([statements, calls() - before]).toEqual([10, 1])
    now = new Date(now.getTime() + 2000)
    await text()
    expect(calls() - before).toBe(2)
    // A clock that was set back: the figures did not change for as long as it had been ahead.
    now = new Date(now.getTime() - 3_600_000)
    await text()
    expect(calls() - before).toBe(3)
  })

  test('the figures show a moving cursor as young: the age counts from its move, and not from the last read', async () => {
    const runner = fixture.runner()
    await fixture.finalize(runner)
    await fixture.db.query(`update chain_cursor set scanned_at = now() - interval '1 hour'`)
    await runner.tick()
    const { text } = page(() => new Date())
    expect(await text()).toMatch(/^pinrail_cursor_age_seconds 36\d\d\./m)
    await fixture.chain.mine({ blocks: 3 })
    await runner.tick()
    expect(await text()).toMatch(/^pinrail_cursor_age_seconds \d{1,2}(?:\.|$)/m)
  })

  test('the figures show trouble: a stopped lane, a pause, a hook that fails, a node that is silent', async () => {
    const [queued] = await fixture.queue([{}])
    await fixture.db.query(`update payout set hook_error = 'no', updated_at = now() where payment_id = $1`, [
      queued!.paymentId,
    ])
    await fixture.db.query(`update lane set status = 'quarantined', status_reason = 'strange'`)
    await fixture.db.query(`update chain_cursor set paused_reason = 'strange'`)
    for (const silent of nodes.slice(1))
      silent.behave = () => ({ status: 429, text: 'slower', headers: { 'retry-after': '30' } })
    const { rpc, text } = page(() => new Date())
    await rpc.newest().catch(() => undefined)
    const metrics = await text()
    expect(metrics).toMatch(/^pinrail_settlement_paused 1$/m)
    expect(metrics).toMatch(/pinrail_lane\{.*status="quarantined"\} 1/)
    expect(metrics).toContain('pinrail_settlement_attention{kind="payout_hook"} 1\n')
    expect(metrics).toContain('pinrail_settlement_attention{kind="lane"} 1\n')
    expect(metrics).toMatch(/pinrail_node\{node="rpc3",state="resting"\} 1/)
    expect(metrics).toMatch(/pinrail_node_failures_total\{node="rpc3"\} [1-9]/)
    expect(metrics).toMatch(/^pinrail_nodes_spare -1$/m)
  })
})

describe('A transfer that an operator declares legitimate', () => {
  /**
   * Transfers that an operator makes out of the treasury by hand, such as a refund in USDC, and declares legitimate.
   */

  let fixture: Fixture
  const hooks = createSettlementHooks({ publicUrl: 'http://127.0.0.1', now: Date.now })
  beforeAll(async () => {
    fixture = await createFixture()
    // The treasury has its first USDC.
    await fixture.finalize(fixture.runner({ hooks }))
  })
  afterAll(() => fixture.stop())
  let before: ReadonlyMap<string, bigint>
  beforeEach(async () => {
    before = await balances()
  })

  async function balances(): Promise<ReadonlyMap<string, bigint>> {
    const rows = await readBalances(fixture.db)
    return new Map(rows.map(({ account, asset, amount }) => [`${account} ${asset}`, BigInt(amount)]))
  }

  /** The changes of the books since the test began. */
  async function changed(): Promise<Record<string, string>> {
    const now = await balances()
    const names = [...new Set([...before.keys(), ...now.keys()])].sort()
    const changes = names.map((name) => [name, (now.get(name) ?? 0n) - (before.get(name) ?? 0n)] as const)
    return Object.fromEntries(changes.flatMap(([name, amount]) => (amount === 0n ? [] : [[name, String(amount)]])))
  }

  async function send(recipient: Hex, micro: bigint): Promise<Hex> {
    const { chain, treasury } = fixture
    await chain.setBalance({ address: treasury.address, value: 10n ** 18n })
    const serializedTransaction = await treasury.signTransaction({
      type: 'eip1559',
      chainId: TOKEN.chainId,
      nonce: await chain.getTransactionCount({ address: treasury.address }),
      to: TOKEN.address,
      data: encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [recipient, micro] }),
      gas: 300_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    const hash = await chain.sendRawTransaction({ serializedTransaction })
    await chain.mine({ blocks: 6 })
    return hash
  }

  const acknowledged = (hash: Hex) => {
    const signed = { operator: 'anna', reason: 'a drill' }
    const { db } = fixture
    return acknowledge(
      { db, settings: createSettings(fixture), hooks, dryRun: false, signed, say: () => undefined },
      hash,
    )
  }

  // Suspense kept the returned amount, and the return of the money was a gain: neither ever left the books.
  test('an acknowledged transfer leaves suspense for the account that the return of the money had filled', async () => {
    const hash = await send(newAddress(), 20n)
    await fixture.finalize(fixture.runner({ hooks }))
    expect(await changed()).toEqual({ 'suspense USDC': '20', 'treasury USDC': '-20' })
    expect(await acknowledged(hash)).toBe(0)
    expect(await changed()).toEqual({ 'exchange USDC': '20', 'treasury USDC': '-20' })
    // No part of it is unknown any more.
    expect(await acknowledged(hash)).toBe(1)
    expect(await changed()).toEqual({ 'exchange USDC': '20', 'treasury USDC': '-20' })
  })

  test('a transfer that is declared before the books received it is booked once', async () => {
    const fails = { ...hooks, onTreasuryMovement: () => Promise.reject(new Error('the books are closed')) }
    const hash = await send(newAddress(), 21n)
    await fixture.finalize(fixture.runner({ hooks: fails }))
    expect(await changed()).toEqual({})
    expect(await acknowledged(hash)).toBe(0)
    await fixture.db.query('update treasury_log set hook_retry_at = null')
    await fixture.finalize(fixture.runner({ hooks }))
    const { rows } = await fixture.db.query(
      'select count(*)::int as unapplied from treasury_log where applied_at is null',
    )
    expect(rows).toEqual([{ unapplied: 0 }])
    expect(await changed()).toEqual({ 'exchange USDC': '21', 'treasury USDC': '-21' })
  })

  test('a transfer to another treasury of the platform changes nothing in the books', async () => {
    await fixture.db.transaction((tx) => hooks.onTreasuryMovement(tx, { ...moved('out', 1), fate: 'acknowledged' }))
    expect(await changed()).toEqual({})
  })

  const moved = (direction: 'in' | 'out', place: number): TreasuryMovement => ({
    chainId: TOKEN.chainId,
    txHash: `0x${String(place).padStart(64, '7')}`,
    logIndex: 0,
    blockNumber: 1,
    direction,
    fate: 'final',
    micro: '9',
    treasury: fixture.treasury.address.toLowerCase() as Hex,
    counterparty: newAddress(),
  })
  const book = (movement: TreasuryMovement) => fixture.db.transaction((tx) => hooks.onTreasuryMovement(tx, movement))

  // The converter had delivered twice, and suspense had the part without an owner.
  test('a top-up whose block has left the chain leaves no change in the books, and counts once when it comes again', async () => {
    const topUp = moved('in', 2)
    const once = { 'conversion USDC': '-9', 'treasury USDC': '9' }
    await book(topUp)
    expect(await changed()).toEqual(once)
    await book({ ...topUp, fate: 'gone' })
    expect(await changed()).toEqual({})
    for (let time = 0; time < 2; time++) await book(topUp)
    expect(await changed()).toEqual(once)
  })

  test('a declared transfer whose block has left the chain leaves no change in the books either, and can be declared again', async () => {
    const out = moved('out', 3)
    const declared = { ...out, fate: 'acknowledged' } as const
    const spent = { 'exchange USDC': '9', 'treasury USDC': '-9' }
    for (const movement of [out, declared]) await book(movement)
    expect(await changed()).toEqual(spent)
    await book({ ...out, fate: 'gone' })
    expect(await changed()).toEqual({})
    for (const movement of [out, declared, declared]) await book(movement)
    expect(await changed()).toEqual(spent)
  })
})

describe('A worker that waits for hours', () => {
  const CHANNEL = 'pinrail_payouts'
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  afterAll(() => fixture.stop())

  test('a worker sends payouts that another process queued when it receives a notice', async () => {
    let statements = 0
    const query: Db['query'] = (text, values) => {
      statements += 1
      return fixture.db.query(text, values)
    }
    const leaving = new AbortController()
    const runner = fixture.runner({ db: { ...fixture.db, query }, everyMs: 3_600_000, options: { leaseMs: 60_000 } })
    const work = runner.run(leaving.signal)
    // Rounds follow each other only while there is work.
    let last = 0
    const isQuiet = async () => {
      const before = last
      last = statements
      return before > 0 && before === last
    }
    await poll(isQuiet, { withinMs: 20_000, everyMs: 300, what: 'the end of its first rounds' })
    const [queued] = await fixture.queue([{}])
    const notices: unknown[] = []
    const notice = listen(fixture.databaseUrl, { [CHANNEL]: () => notices.push(runner.wake()) })
    try {
      // The first one belongs to the connection itself.
      await poll(async () => notices.length > 0, { withinMs: 20_000, everyMs: 20, what: 'the listening' })
      notices.length = 0
      createNotifier(fixture.db, CHANNEL)()
      await poll(async () => notices.length > 0, { withinMs: 20_000, everyMs: 20, what: 'the notice' })
      const isSent = async () => !['queued', 'authorized'].includes((await fixture.payout(queued!.paymentId)).state)
      await poll(isSent, { withinMs: 20_000, everyMs: 20, what: 'the payout to be sent' })
    } finally {
      leaving.abort()
      await Promise.all([work, notice.close()])
    }
  })
})

describe('Plans of statements', () => {
  /** The cost of the engine's statements must not grow with the number of settled payouts. */

  /** Enough rows that reading a whole table is more expensive than any index. */
  const SETTLED = 20_000

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
    await fillSettled(fixture.db, {
      count: SETTLED,
      chainId: TOKEN.chainId,
      token: TOKEN.address,
      treasury: fixture.treasury.address.toLowerCase() as Hex,
      withBytes: true,
    })
    await fixture.db.query('analyze')
  }, 60_000)
  afterAll(() => fixture?.stop())

  type Plan = { 'Node Type': string; 'Actual Loops': number; 'Relation Name'?: string; Plans?: Plan[] }
  const listNodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(listNodes)]
  const listScans = (plan: Plan): string[] =>
    listNodes(plan).flatMap((node) =>
      node['Node Type'] === 'Seq Scan' && (GROWING as readonly string[]).includes(node['Relation Name'] ?? '')
        ? [node['Relation Name'] as string]
        : [],
    )

  /** Each statement with its plan at that moment: Postgres chooses it for these values and these tables. */
  function planned(db: Db, plans: Map<string, string[]>): Db {
    const explain = async (on: Pick<Db, 'query'>, text: string, values?: unknown[]): Promise<void> => {
      if (plans.has(text) || !/^\s*(?:select|with|insert|update|delete)\b/i.test(text)) return
      const { rows } = await on.query(`explain (format json) ${text}`, values)
      const [{ Plan: plan }] = (rows as { 'QUERY PLAN': [{ Plan: Plan }] }[])[0]!['QUERY PLAN']
      plans.set(text, listScans(plan))
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

  test('no statement of signing, sending, observing and settling reads a whole table of settled payouts', async () => {
    const hooks = createSettlementHooks({ publicUrl: 'https://pay.example', now: Date.now })
    const plans = new Map<string, string[]>()
    const queued = await fixture.queue([{}, {}, {}])
    await fixture.db.query(
      `update payment p set status = 'settling', net_micro = o.micro_usdc, gross_micro = o.micro_usdc, fee_micro = 0, rate = '1'
     from payout o where o.payment_id = p.id and p.status = 'created'`,
    )
    const runner = fixture.runner({ db: planned(fixture.db, plans), hooks, options: { startBlock: 0 } })
    await fixture.finalize(runner, 3)
    for (const { paymentId } of queued) expect((await fixture.payout(paymentId)).state).toBe('settled')
    const { figures } = runner
    await Promise.all([figures.queue(), figures.cursor(), figures.lanes(), figures.attention()])
    expect(plans.size).toBeGreaterThan(40)
    const scanning = [...plans].filter(([, scans]) => scans.length > 0)
    expect(scanning.map(([text, scans]) => `${scans.join()}: ${text.replace(/\s+/g, ' ').slice(0, 160)}`)).toEqual([])
  })

  test('payouts that are on their way are not checked one by one for a blocked lane', async () => {
    await fixture.queue(Array.from({ length: 300 }, () => ({})))
    await fixture.runner({ options: { startBlock: 0 } }).tick()
    const { rows: before } = await fixture.db.query(`select count(*)::int as sent from payout where state = 'assigned'`)
    expect(before[0]).toEqual({ sent: 300 })
    const loops: number[] = []
    const measured: Db = {
      ...fixture.db,
      transaction: (work) =>
        fixture.db.transaction((tx) =>
          work({
            ...tx,
            async query(text, values) {
              // Nothing is stranded, so it can be executed twice.
              const { rows } = await tx.query(`explain (analyze, format json) ${text}`, values)
              loops.push(...listNodes(rows[0]!['QUERY PLAN'][0].Plan).map((node) => node['Actual Loops']))
              return tx.query(text, values)
            },
          }),
        ),
    }
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: measured, scope, hooks: {} as SettlementHooks })
    const carriers = fixture.relayers.map(({ address }) => address.toLowerCase() as Hex)
    expect(await journal.freeStranded({ idleMs: 30_000, slow: [], carriers })).toEqual([])
    expect(loops.length).toBeGreaterThan(3)
    expect(Math.max(...loops)).toBeLessThan(20)
  })
})
