import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { createReach } from '../../../src/chain/observer/reach.ts'
import { createStall } from '../../../src/chain/observer/stall.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type HostileNode, type Malice, startHostileNode, useHostileNodes } from '../../support/hostile-node.ts'
import { addAwaited } from '../deposits/awaited.ts'
import { createWorld, type Queued, TOKEN, type World } from '../world.ts'
import { isCaughtUp, within } from './catching-up.ts'

/** Nodes of any limit are caught up with, in ranges that get smaller until one is answered. */

describe('how many blocks are read at once', () => {
  const asked = async (open: number, answers: readonly ('read' | 'not read' | 'throws')[]): Promise<number[]> => {
    const reach = createReach(1000)
    const blocks: number[] = []
    for (const answer of answers)
      await reach
        .read(open, async (count) => {
          blocks.push(count)
          if (answer === 'throws') throw new Error('more than can be asked in time')
          return answer === 'read' ? 'logs' : null
        })
        .catch(() => null)
    return blocks
  }

  const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what)

  test('is half as much after each failure, and anew after a single block, which fails for another reason', async () => {
    expect(await asked(5000, times(11, 'not read'))).toEqual([1000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 1000])
    expect(await asked(5000, ['throws', 'not read', 'read'])).toEqual([1000, 500, 250])
  })

  test('is twice as much after a success, and as much as failed only after eight of them', async () => {
    const answers = [...times(3, 'not read' as const), ...times(9, 'read' as const), 'not read', 'read'] as const
    const small = times(8, 125)
    expect(await asked(5000, answers)).toEqual([1000, 500, 250, ...small, 250, 500, 250])
    expect(await asked(5000, times(3, 'read'))).toEqual([1000, 1000, 1000])
  })

  test('gets smaller from what there was to be read, and a short range that is read makes it no smaller', async () => {
    expect(await asked(40, ['not read', 'not read', 'read', 'read'])).toEqual([40, 20, 10, 10])
    const reach = createReach(1000)
    await reach.read(3, async () => 'logs')
    expect(await reach.read(5000, async (blocks) => blocks)).toBe(1000)
  })
})

const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
const deposits = { keys, wrongTokens: [] }
const LOGS = 'eth_getLogs'

describe('the warning of a standstill', () => {
  test('a standstill is told once a minute, also after the clock was set back', () => {
    let now = 10_000_000
    const told: unknown[] = []
    const log = { info: () => undefined, error: () => undefined, warn: (about: object) => void told.push(about) }
    const stall = createStall({ log, clock: () => new Date(now) }, 'this')
    const after = (ms: number): number => {
      now += ms
      stall.goesOn('why')
      return told.length
    }
    expect([after(0), after(59_000), after(1000), after(59_000), after(1000)]).toEqual([0, 0, 1, 1, 2])
    after(-3_600_000)
    expect([after(59_000), after(1000)].at(-1)).toBeGreaterThanOrEqual(3)
  })
})

describe('catching up', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  beforeEach(async () => {
    await world.reset()
    await world.chain.setAutomine(true)
  })
  afterAll(() => world.stop())
  const nodes = useHostileNodes(() => world.anvil.url)

  const connect = ({ now, of = nodes }: { now?: () => number; of?: readonly HostileNode[] } = {}) =>
    connectRpc({
      urls: of.map(({ url }) => url),
      quorum: Math.ceil((of.length + 1) / 2),
      chainId: TOKEN.chainId,
      timeoutMs: 2000,
      ...(now && { now }),
    })

  /** Nodes that answer questions for logs of more than `most` blocks with a refusal. */
  function limit(
    most: number,
    refusal: Malice,
    { of = nodes, onLogs = () => {} }: { of?: readonly HostileNode[]; onLogs?: () => void } = {},
  ): void {
    for (const node of of)
      node.behave = ({ method, params }) => {
        if (method !== LOGS) return 'honest'
        onLogs()
        const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
        return Number(toBlock) - Number(fromBlock) < most ? 'honest' : refusal
      }
  }

  /** By nodes that give fifty blocks at a time; each question for logs takes `ms` of their clock. */
  function slowRunner(ms: number) {
    let time = 0
    limit(50, { error: { code: -32000, message: 'no more than fifty at a time' } }, { onLogs: () => void (time += ms) })
    return world.runner({ rpc: connect({ now: () => time }), deposits })
  }

  async function mine({ chain }: World, blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left -= 100) await chain.mine({ blocks: Math.min(100, left) })
  }
  const state = async (queued: Queued) => (await world.payout(queued.paymentId)).state
  const laterBy = (seconds: number): void => {
    world.clock.now = new Date(world.clock.now.getTime() + seconds * 1000)
  }
  /** A payout that is in the chain, and the blocks after it. */
  async function paid(blocks: number): Promise<Queued> {
    const runner = world.runner({ deposits })
    await world.finalize(runner)
    const [queued] = await world.queue([{}])
    await runner.tick()
    await mine(world, blocks)
    return queued!
  }

  describe('a thousand blocks are caught up with', () => {
    // the same thousand were asked for again and again, and what had been read was forgotten each time
    test('at nodes that give fifty at a time, late', async () => {
      const queued = await paid(1100)
      const runner = slowRunner(2500)
      expect(await within(60, runner, isCaughtUp(world))).toBe(true)
      expect(await state(queued)).toBe('settled')
    })

    // the words were taken for a wish to be left alone, and nothing was read any more
    test('at nodes that call more than a hundred a limit that is exceeded', async () => {
      const queued = await paid(1100)
      limit(100, { error: { code: -32005, message: 'limit exceeded' } })
      const runner = world.runner({ rpc: connect(), deposits })
      expect(await within(60, runner, isCaughtUp(world))).toBe(true)
      expect(await state(queued)).toBe('settled')
    })

    // short ranges counted as blocks of just now
    test('with what came to an address whose watch has ended since', async () => {
      const dayAgo = Math.floor(Date.now() / 1000) - 86_400
      const past = await createWorld({ anvil: ['--timestamp', String(dayAgo), '--slots-in-an-epoch', '1'] })
      const front = await startHostileNode(past.anvil.url)
      try {
        await past.finalize(past.runner({ deposits }))
        const { address } = await addAwaited(past.db, keys, 'ended')
        await mintUsdc(past.chain, { to: address, micro: 5_000_000n })
        await mine(past, 400)
        await past.db.query(
          `update deposit set created_at = now() - interval '1 day', watch_until = now() - interval '20 hours'`,
        )
        limit(50, { error: { code: -32005, message: 'limit exceeded' } }, { of: [front] })
        const runner = past.runner({ rpc: connect({ of: [front] }), deposits })
        expect(await within(100, runner, isCaughtUp(past))).toBe(true)
        expect(past.heard.deposits).toMatchObject([{ address }])
      } finally {
        await front.close()
        await past.stop()
      }
    })

    // the nodes had four seconds, however much was asked of them, and then none was left
    test('by the search for a log that was missed', async () => {
      const runner = world.runner({ rpc: connect() })
      await world.finalize(runner)
      const [queued] = await world.queue([{}])
      await runner.tick()
      for (const node of nodes) node.behave = ({ method }) => (method === LOGS ? { lie: () => [] } : 'honest')
      await mine(world, 1100)
      expect(await within(5, runner, isCaughtUp(world))).toBe(true)
      // The second reading too.
      await within(3, runner, async () => false)
      expect(await state(queued!)).not.toBe('settled')
      const isFound = async () => {
        laterBy(61)
        return (await state(queued!)) === 'settled'
      }
      expect(await within(60, slowRunner(2500), isFound)).toBe(true)
    })
  })
})
