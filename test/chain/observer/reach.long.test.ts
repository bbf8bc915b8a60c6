import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import { type HostileNode, type Malice, startHostileNode, useHostileNodes } from '../../support/hostile-node.ts'
import { createRandom } from '../../support/random.ts'
import { addAwaited } from '../deposits/awaited.ts'
import { createFixture, type Fixture, type Queued, TOKEN } from '../fixture.ts'
import { isCaughtUp, within } from './catching-up.ts'

/** The engine catches up with nodes of any limit: state needs no logs, and ranges of logs are halved. */

const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
const deposits = { keys, wrongTokens: [] }
const LOGS = 'eth_getLogs'

describe('catching up', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  beforeEach(async () => {
    await fixture.reset()
    await fixture.chain.setAutomine(true)
  })
  afterAll(() => fixture.stop())
  const nodes = useHostileNodes(() => fixture.anvil.url)

  const connect = ({ now, of = nodes }: { now?: () => number; of?: readonly HostileNode[] } = {}) =>
    connectRpc({
      urls: of.map(({ url }) => url),
      quorum: Math.ceil((of.length + 1) / 2),
      chainId: TOKEN.chainId,
      timeoutMs: 2000,
      ...(now && { now }),
    })

  /** Nodes that refuse questions for logs of more than `most` blocks. */
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

  /** Nodes that give fifty blocks at a time; each question for logs takes `ms` of their clock. */
  function slowRunner(ms: number) {
    let time = 0
    limit(50, { error: { code: -32000, message: 'no more than fifty at a time' } }, { onLogs: () => void (time += ms) })
    return fixture.runner({ rpc: connect({ now: () => time }), deposits })
  }

  async function mine({ chain }: Fixture, blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left -= 100) await chain.mine({ blocks: Math.min(100, left) })
  }
  const state = async (queued: Queued) => (await fixture.payout(queued.paymentId)).state
  /** A payout that is in the chain, and the blocks after it. */
  async function paid(blocks: number): Promise<Queued> {
    const runner = fixture.runner({ deposits })
    await fixture.finalize(runner)
    const [queued] = await fixture.queue([{}])
    await runner.tick()
    await mine(fixture, blocks)
    return queued!
  }

  describe('Catching up with a thousand blocks', () => {
    // The same thousand were requested again and again, and each time their results were discarded.
    test('a thousand blocks are read from nodes that give fifty at a time, late', async () => {
      const queued = await paid(1100)
      const runner = slowRunner(2500)
      expect(await within(60, runner, isCaughtUp(fixture))).toBe(true)
      expect(await state(queued)).toBe('settled')
    })

    // The refusal was taken for a request to pause, and nothing was read any more.
    test('a thousand blocks are read from nodes that report more than a hundred as an exceeded limit', async () => {
      const queued = await paid(1100)
      limit(100, { error: { code: -32005, message: 'limit exceeded' } })
      const runner = fixture.runner({ rpc: connect(), deposits })
      expect(await within(60, runner, isCaughtUp(fixture))).toBe(true)
      expect(await state(queued)).toBe('settled')
    })

    // Short ranges counted as new blocks.
    test('a thousand blocks are read with the deposits at an address whose watch has ended since', async () => {
      const dayAgo = Math.floor(Date.now() / 1000) - 86_400
      const past = await createFixture({ anvil: ['--timestamp', String(dayAgo), '--slots-in-an-epoch', '1'] })
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
        expect(past.hookCalls.deposits).toMatchObject([{ address }])
      } finally {
        await front.close()
        await past.stop()
      }
    })
  })

  // Failures unrelated to the length made each range shorter, and the cursor fell behind forever.
  test('a worker stays within 100 blocks of the newest one when one node gives no logs and the others lose a third of the questions', async () => {
    let now = 0
    const urls = nodes.map(({ url }) => url)
    const runner = fixture.runner({
      rpc: connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, timeoutMs: 2000, now: () => now }),
      deposits,
    })
    expect(await within(20, runner, isCaughtUp(fixture))).toBe(true)
    const random = createRandom(7)
    for (const [index, node] of nodes.entries())
      node.behave = ({ method }) =>
        method !== LOGS || (index > 0 && !random.chance(0.33)) ? 'honest' : { status: 503, text: 'lost' }
    const lags: number[] = []
    for (let round = 0; round < 150; round++) {
      await fixture.chain.mine({ blocks: 2 })
      await runner.tick().catch(() => undefined)
      // By the clock of the nodes, which are not asked again for a while after a failure.
      now += 4000
      const { rows } = await fixture.db.query('select scanned_number::int as scanned from chain_cursor')
      lags.push(Number(await fixture.chain.getBlockNumber()) - (rows[0] as { scanned: number }).scanned)
    }
    expect(Math.max(...lags.slice(-50))).toBeLessThan(100)
  }, 180_000)
})
