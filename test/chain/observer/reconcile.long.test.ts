import { describe, expect, jest, test } from '@jest/globals'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { listSettlementAttention } from '../../../src/db/settlement/watch/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { type HostileNode, useHostileNodes } from '../../support/hostile-node.ts'
import { type Queued, TOKEN, useWorld } from '../world.ts'

describe('logs that nodes did not show', () => {
  const world = useWorld()
  const nodes = useHostileNodes(() => world.anvil.url)

  const runnerOf = (timeoutMs = 2000) => {
    const urls = nodes.map(({ url }) => url)
    return world.runner({ rpc: connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, timeoutMs }) })
  }
  const state = async (queued: Queued) => (await world.payout(queued.paymentId)).state
  const attention = async () => listSettlementAttention(world.db)
  const laterBy = (seconds: number): void => {
    world.clock.now = new Date(world.clock.now.getTime() + seconds * 1000)
  }

  /** A payout that is final on chain, and whose block was read while the given nodes said that it has no logs. */
  async function missed(runner: ReturnType<typeof runnerOf>, empty: readonly HostileNode[]): Promise<Queued> {
    await runner.tick()
    const [queued] = await world.queue([{}])
    await runner.tick()
    await world.chain.mine({ blocks: 4 })
    for (const node of empty) node.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
    await runner.tick()
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
    expect(await state(queued!)).not.toBe('settled')
    return queued!
  }

  test('two of three nodes answer [] once for a final block: the second reading finds what was there', async () => {
    const runner = runnerOf()
    const queued = await missed(runner, nodes.slice(0, 2))
    for (const node of nodes) node.behave = () => 'honest'
    await world.chain.mine({ blocks: 20 })
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(world.heard.settled.filter(({ paymentId }) => paymentId === queued.paymentId)).toHaveLength(1)
  })

  // the lane had booked it when it ended the envelope, and the payout booked it once more
  test('the gas of a payout that is found by the second reading is booked once', async () => {
    const { gas, settled } = world.heard
    const paidBy = () => world.chain.getBalance({ address: world.relayers[0]!.address })
    const booked = (): bigint =>
      [...gas.map(({ wei }) => wei), ...settled.map(({ gasWei }) => gasWei ?? 0n)].reduce((sum, wei) => sum + wei, 0n)
    const [had, bookedBefore] = [await paidBy(), booked()]
    const runner = runnerOf()
    const queued = await missed(runner, nodes.slice(0, 2))
    expect(gas).not.toEqual([])
    for (const node of nodes) node.behave = () => 'honest'
    await world.chain.mine({ blocks: 20 })
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(booked() - bookedBefore).toBe(had - (await paidBy()))
  })

  test('two of three nodes have lost the logs of a block: within a minute the third one shows where to look', async () => {
    const runner = runnerOf()
    const queued = await missed(runner, nodes.slice(0, 2))
    laterBy(61)
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(await attention()).toEqual([])
  })

  // nothing was compared until the clock was where it had been
  test('a clock that was an hour ahead and is set right keeps nothing from being found', async () => {
    const runner = runnerOf()
    laterBy(3600)
    const queued = await missed(runner, nodes.slice(0, 2))
    laterBy(-3600)
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
  })

  test('a used nonce of which no node shows the log is on the attention list until one does', async () => {
    const runner = runnerOf()
    const queued = await missed(runner, nodes)
    laterBy(61)
    await runner.tick()
    expect(await state(queued)).not.toBe('settled')
    expect(await attention()).toEqual([
      expect.objectContaining({ kind: 'used_without_log', subject: queued.paymentId }),
    ])
    for (const node of nodes) node.behave = () => 'honest'
    laterBy(61)
    await runner.tick()
    laterBy(61)
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(await attention()).toEqual([])
  })

  test('a log that one node invents for a used nonce is not believed without its receipt', async () => {
    const runner = runnerOf()
    const queued = await missed(runner, nodes)
    const { rows } = await world.db.query('select auth_nonce from payout where payment_id = $1', [queued.paymentId])
    const { auth_nonce: nonce } = rows[0] as { auth_nonce: string }
    const block = await world.chain.getBlock({ blockNumber: 3n })
    const treasury = `0x${world.treasury.address.slice(2).toLowerCase().padStart(64, '0')}`
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

  const LOGS = 'eth_getLogs'
  /** A log of no meaning, in a transaction of its own. */
  const junk = (nonce: string, number: number) => ({
    address: TOKEN.address,
    topics: ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', `0x${'0'.repeat(64)}`, nonce],
    data: '0x',
    blockNumber: '0x1',
    blockHash: `0x${'2'.repeat(64)}`,
    transactionHash: `0x${number.toString(16).padStart(64, '0')}`,
    logIndex: '0x0',
  })

  // each of them was looked up, one after the other, and nothing settled meanwhile
  test('one node that names thousands of transactions is asked about one for each nonce', async () => {
    for (const node of nodes) node.behave = () => 'honest'
    const runner = runnerOf()
    const queued = await missed(runner, nodes)
    const { rows } = await world.db.query('select auth_nonce from payout where payment_id = $1', [queued.paymentId])
    const { auth_nonce: nonce } = rows[0] as { auth_nonce: string }
    let receipts = 0
    for (const node of nodes)
      node.behave = ({ method }) => {
        receipts += method === 'eth_getTransactionReceipt' ? 1 : 0
        return method === LOGS ? { lie: () => [] } : 'honest'
      }
    const others = nodes[2]!.behave
    const many = Array.from({ length: 3000 }, (_log, at) => junk(at % 2 === 0 ? nonce : `0x${'5'.repeat(64)}`, at))
    nodes[2]!.behave = (call) => (call.method === LOGS ? { lie: () => many } : others(call))
    laterBy(61)
    await runner.tick()
    expect(await attention()).toEqual([
      expect.objectContaining({ kind: 'used_without_log', subject: queued.paymentId }),
    ])
    expect(receipts).toBeGreaterThan(0)
    expect(receipts).toBeLessThanOrEqual(nodes.length)
  })

  // each of them was proved, one after the other, before any that had been missed
  test('three hundred missed logs are found although one node names another transaction for each', async () => {
    for (const node of nodes) node.behave = () => 'honest'
    const runner = runnerOf()
    await runner.tick()
    const queued = await world.queue(Array.from({ length: 300 }, () => ({})))
    for (let round = 0; round < 4; round++) await runner.tick()
    await world.chain.mine({ blocks: 4 })
    for (const node of nodes) node.behave = ({ method }) => (method === LOGS ? { lie: () => [] } : 'honest')
    await runner.tick()
    // The second reading too.
    await world.chain.mine({ blocks: 40 })
    for (let round = 0; round < 2; round++) await runner.tick()
    const { rows } = await world.db.query('select auth_nonce from payout where payment_id = any($1)', [
      queued.map(({ paymentId }) => paymentId),
    ])
    const invented = rows.map((row, at) => junk(row['auth_nonce'] as string, at + 10_000))
    let receipts = 0
    for (const [index, node] of nodes.entries())
      node.behave = ({ method, params }) => {
        receipts += method === 'eth_getTransactionReceipt' ? 1 : 0
        const { topics } = (params[0] ?? {}) as { topics?: unknown[] }
        const isSearch = method === LOGS && Array.isArray(topics?.[2])
        return index === 2 && isSearch ? { lie: () => invented } : 'honest'
      }
    laterBy(61)
    await runner.tick()
    await runner.tick()
    expect(new Set(await Promise.all(queued.map(state)))).toEqual(new Set(['settled']))
    expect(receipts).toBeLessThan(200)
  })

  /** A payout whose log all nodes hid, far enough back for two questions. */
  async function missedFarBack(timeoutMs?: number) {
    await world.reset()
    for (const node of nodes) node.behave = () => 'honest'
    const runner = runnerOf(timeoutMs)
    const queued = await missed(runner, nodes)
    for (let part = 0; part < 11; part++) await world.chain.mine({ blocks: 100 })
    for (const node of nodes) node.behave = ({ method }) => (method === LOGS ? { lie: () => [] } : 'honest')
    await runner.tick()
    await runner.tick()
    for (const node of nodes) node.behave = () => 'honest'
    return { runner, queued }
  }

  // it was waited for in each range, for as long as its answers took
  test('one node that does not answer is waited for once, and the others show the way', async () => {
    const { runner, queued } = await missedFarBack(1000)
    let asked = 0
    nodes[2]!.behave = ({ method, params }) => {
      const { topics } = (params[0] ?? {}) as { topics?: unknown[] }
      if (method !== LOGS || !Array.isArray(topics?.[2])) return 'honest'
      asked += 1
      return 'black_hole'
    }
    laterBy(61)
    await runner.tick()
    await runner.tick()
    expect(await state(queued)).toBe('settled')
    expect(asked).toBe(1)
  })

  // what was read too late was read again, and so was never passed
  test('a search ends after fifteen seconds, however long a question takes, and the next one goes on where it was', async () => {
    const { runner, queued } = await missedFarBack()
    const now = performance.now.bind(performance)
    let passed = 0
    const searched: { from: number; to: number }[] = []
    nodes[0]!.behave = ({ method, params }) => {
      const { topics, fromBlock, toBlock } = (params[0] ?? {}) as {
        topics?: unknown[]
        fromBlock?: string
        toBlock?: string
      }
      if (method !== LOGS || !Array.isArray(topics?.[2])) return 'honest'
      searched.push({ from: Number(fromBlock), to: Number(toBlock) })
      passed += 16_000
      return 'honest'
    }
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    try {
      for (const questions of [1, 2]) {
        laterBy(61)
        await runner.tick()
        expect(searched).toHaveLength(questions)
      }
      expect(searched[1]!.to).toBe(searched[0]!.from - 1)
      await runner.tick()
      expect(await state(queued)).toBe('settled')
    } finally {
      clock.mockRestore()
    }
  })

  // it was called settled, by a block that was not final
  test('nothing is proved by a block that has taken the place of a final one', async () => {
    for (const node of nodes) node.behave = () => 'honest'
    const runner = runnerOf()
    await world.finalize(runner)
    const [queued] = await world.queue([{}])
    await runner.tick()
    const { rows } = await world.db.query(
      `select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt order by signed_at desc limit 1`,
    )
    const { raw } = rows[0] as { raw: Hex }
    const { rows: cursors } = await world.db.query('select scanned_number::int as number from chain_cursor')
    const { number } = cursors[0] as { number: number }
    // The newest block of the new chain has the number of the last one that was final, and the transfer.
    const depth = Number(await world.chain.getBlockNumber()) - number + 5
    await world.chain.request({ method: 'anvil_rollback' as never, params: [depth] as never })
    await world.chain.mine({ blocks: 4 })
    await world.chain.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
    await world.chain.mine({ blocks: 1 })
    expect(Number(await world.chain.getBlockNumber())).toBe(number)
    expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
    for (let round = 0; round < 3; round++) {
      laterBy(61)
      await runner.tick().catch(() => undefined)
    }
    expect(await state(queued!)).not.toBe('settled')
  })
})

describe('groups of proved payouts', () => {
  const world = useWorld()

  test('two groups of proved payouts are ended at the same time, each payout once', async () => {
    const queued = await world.queue(Array.from({ length: 250 }, () => ({})))
    const groups: number[] = []
    let begun = (): void => undefined
    const another = new Promise<void>((resolve) => (begun = resolve))
    const runner = world.runner({
      hooks: {
        async onSettled(tx, settlements) {
          await world.hooks.onSettled(tx, settlements)
          groups.push(settlements.length)
          if (groups.length === 2) begun()
          // The first is not over before another has begun.
          await another
        },
      },
    })
    const isSent = async (): Promise<boolean> =>
      (await world.db.query(`select from payout where state <> 'assigned'`)).rows.length === 0
    for (let round = 0; round < 10 && !(await isSent()); round++) await runner.tick()
    // All of them become final together.
    await world.chain.mine({ blocks: 5 })
    for (let round = 0; round < 3; round++) await runner.tick()
    // On a slow machine a part of them is final before.
    expect(groups).toHaveLength(2)
    expect(Math.max(...groups)).toBeLessThanOrEqual(200)
    const settled = world.heard.settled.map(({ paymentId }) => paymentId)
    expect(settled.toSorted()).toEqual(queued.map(({ paymentId }) => paymentId).toSorted())
  })
})
