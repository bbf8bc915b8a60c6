import { describe, expect, jest, test } from '@jest/globals'
import { multicallCodec } from '../../../src/chain/codec.ts'
import { sql } from '../../../src/db/db.ts'
import { readSigned } from '../../../src/db/settlement/queue.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { useHostileNodes } from '../../support/hostile-node.ts'
import { TOKEN, useFixture } from '../fixture.ts'
import { carry } from '../rpc/strangers.ts'
import { createMissedLogs } from './missed-logs.ts'

describe('payouts that somebody else carries', () => {
  const fixture = useFixture()
  const nodes = useHostileNodes(() => fixture.anvil.url)
  const { createRunner, state, attention, laterBy, missed } = createMissedLogs(fixture, nodes)

  // Nothing was compared until the clock reached its earlier time again.
  test('a clock that was an hour ahead and is corrected keeps nothing from being found', async () => {
    const runner = createRunner()
    laterBy(3600)
    const queued = await missed(runner, nodes.slice(0, 2))
    laterBy(-3600)
    for (const node of nodes) node.behave = () => 'honest'
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
  })

  test('a log that one node invents for a used nonce does not count without its receipt', async () => {
    const runner = createRunner()
    const queued = await missed(runner, nodes)
    const { rows } = await fixture.db.query('select auth_nonce from payout where payment_id = $1', [queued.paymentId])
    const { auth_nonce: nonce } = rows[0] as { auth_nonce: string }
    const block = await fixture.chain.getBlock({ blockNumber: 3n })
    const treasury = `0x${fixture.treasury.address.slice(2).toLowerCase().padStart(64, '0')}`
    const invented = {
      address: TOKEN.address,
      topics: ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', treasury, nonce],
      data: '0x',
      blockNumber: '0x3',
      blockHash: block.hash,
      transactionHash: `0x${'7'.repeat(64)}`,
      logIndex: '0x0',
    }
    nodes[2]!.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [invented] } : 'honest')
    laterBy(61)
    await runner.tick()
    expect(await state(queued)).not.toBe('settled')
    expect(await attention()).toEqual([expect.objectContaining({ kind: 'used_without_log' })])
  })

  test('three hundred payouts that a stranger has carried all settle, although one node names other transactions', async () => {
    await fixture.reset()
    for (const node of nodes) node.behave = () => 'honest'
    const runner = createRunner()
    await runner.tick()
    const queued = await fixture.queue(Array.from({ length: 300 }, () => ({})))
    await runner.tick()
    const signed = await readSigned(fixture.db, sql`true`, 300)
    for (let from = 0; from < 300; from += 50)
      await carry(fixture, multicallCodec.encode(TOKEN.address, signed.slice(from, from + 50)))
    await fixture.chain.mine({ blocks: 4 })
    const invented = signed.map(({ authNonce }, index) => ({
      address: TOKEN.address,
      topics: ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', `0x${'0'.repeat(64)}`, authNonce],
      data: '0x',
      blockNumber: '0x1',
      blockHash: `0x${'2'.repeat(64)}`,
      transactionHash: `0x${index.toString(16).padStart(64, '0')}`,
      logIndex: '0x0',
    }))
    nodes[2]!.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => invented } : 'honest')
    for (let round = 0; round < 3; round++) await runner.tick()
    expect(new Set(await Promise.all(queued.map(state)))).toEqual(new Set(['settled']))
  })

  // Late results were read again, so the search never passed them.
  test('a search ends after ten seconds, however long a question takes, and the next one continues there', async () => {
    await fixture.reset()
    for (const node of nodes) node.behave = () => 'honest'
    const runner = createRunner()
    const queued = await missed(runner, nodes)
    for (let part = 0; part < 11; part++) await fixture.chain.mine({ blocks: 100 })
    const now = performance.now.bind(performance)
    let passed = 0
    const searched: { from: number; to: number }[] = []
    for (const node of nodes)
      node.behave = ({ method, params }) => {
        if (method !== 'eth_getLogs') return 'honest'
        const { topics, fromBlock, toBlock } = params[0] as { topics: unknown[]; fromBlock: string; toBlock: string }
        // Only the search names nonces.
        if (!Array.isArray(topics[1]) || !Array.isArray(topics[2])) return { lie: () => [] }
        if (searched.at(-1)?.to !== Number(toBlock)) {
          searched.push({ from: Number(fromBlock), to: Number(toBlock) })
          passed += 11_000
        }
        return 'honest'
      }
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    try {
      for (let round = 0; round < 3 && searched.length < 2; round++) {
        laterBy(61)
        await runner.tick()
      }
      expect(searched[1]!.to).toBe(searched[0]!.from - 1)
      await runner.tick()
      expect(await state(queued)).toBe('settled')
    } finally {
      clock.mockRestore()
    }
  })

  // It counted as settled, by a block that was not final.
  test('a block that has replaced a final one proves nothing', async () => {
    for (const node of nodes) node.behave = () => 'honest'
    const runner = createRunner({ maxInFlight: 8 })
    await fixture.finalize(runner)
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    const { rows } = await fixture.db.query(
      `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt order by signed_at desc limit 1`,
    )
    const { raw } = rows[0] as { raw: Hex }
    const { rows: cursors } = await fixture.db.query('select scanned_number::int as number from chain_cursor')
    const { number } = cursors[0] as { number: number }
    // The newest block of the new chain has the number of the last one that was final, and the transfer.
    const depth = Number(await fixture.chain.getBlockNumber()) - number + 5
    await fixture.chain.request({ method: 'anvil_rollback' as never, params: [depth] as never })
    await fixture.chain.mine({ blocks: 4 })
    await fixture.chain.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
    await fixture.chain.mine({ blocks: 1 })
    expect(Number(await fixture.chain.getBlockNumber())).toBe(number)
    expect(await fixture.balance(queued!.recipient)).toBe(queued!.micro)
    for (let round = 0; round < 3; round++) {
      laterBy(61)
      await runner.tick().catch(() => undefined)
    }
    expect(await state(queued!)).not.toBe('settled')
  })
})

describe('groups of proved payouts', () => {
  const fixture = useFixture()

  test('two groups of proved payouts are ended at the same time, each payout once', async () => {
    const queued = await fixture.queue(Array.from({ length: 250 }, () => ({})))
    const groups: number[] = []
    let begun = (): void => undefined
    const another = new Promise<void>((resolve) => (begun = resolve))
    const runner = fixture.runner({
      hooks: {
        async onSettled(tx, settlements) {
          await fixture.hooks.onSettled(tx, settlements)
          groups.push(settlements.length)
          if (groups.length === 2) begun()
          // The first has not ended before another has begun.
          await another
        },
      },
    })
    const isSent = async (): Promise<boolean> =>
      (await fixture.db.query(`select from payout where state <> 'assigned'`)).rows.length === 0
    for (let round = 0; round < 10 && !(await isSent()); round++) await runner.tick()
    // All of them become final together.
    await fixture.chain.mine({ blocks: 5 })
    for (let round = 0; round < 3; round++) await runner.tick()
    // On a slow machine a part of them is final before.
    expect(groups).toHaveLength(2)
    expect(Math.max(...groups)).toBeLessThanOrEqual(200)
    const settled = fixture.hookCalls.settled.map(({ ownerId }) => ownerId)
    expect(settled.toSorted()).toEqual(queued.map(({ paymentId }) => paymentId).toSorted())
  })
})
