import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { poll } from '../../../scripts/system/waiting.ts'
import { createDepositKeys } from '../../../src/chain/deposits/deposit-keys.ts'
import { connectRpc } from '../../../src/chain/rpc/rpc.ts'
import { readChainCursor } from '../../../src/db/settlement/observer/standing.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc } from '../../../src/sandbox/chain.ts'
import type { RpcCall } from '../../support/anvil.ts'
import { type HostileNode, startHostileNode } from '../../support/hostile-node.ts'
import { createFixture, type Fixture, insertPayments, newAddress, TOKEN, useFixture } from '../fixture.ts'
import { addAwaited, awaitDeposit } from './awaited.ts'

describe('the reading of many addresses', () => {
  /** Deposits are read in few calls, however many are watched, and delay no payout. */

  const keys = createDepositKeys(Buffer.alloc(32, 3).toString('base64'), TOKEN.chainId)
  const deposits = { keys, wrongTokens: [] }

  let fixture: Fixture
  let node: HostileNode
  let numbers = 0
  beforeAll(async () => {
    fixture = await createFixture()
    node = await startHostileNode(fixture.anvil.url)
  })
  afterAll(async () => {
    await node.close()
    await fixture.stop()
  })

  // Long enough that no answer about deposits arrives within this test.
  const runner = ({ url } = node) =>
    fixture.runner({
      rpc: connectRpc({ urls: [url], quorum: 1, chainId: TOKEN.chainId, timeoutMs: 600_000 }),
      deposits,
    })

  /** True for logs to any of several addresses: of the token, or of tokens that buyers mistake for it. */
  const isAboutDeposits = ({ method, params }: RpcCall): boolean =>
    method === 'eth_getLogs' && Array.isArray((params[0] as { address: unknown }).address)

  async function watch(count: number): Promise<Hex[]> {
    const opened = Array.from({ length: count }, () => {
      numbers += 1
      return { paymentId: `pay_apart${numbers}`, attemptId: `att_apart${numbers}`, recipient: newAddress() }
    })
    await insertPayments(fixture.db, opened)
    await fixture.db.query(
      `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
     select a.id, a.payment, 'crypto', 'usdc', 'open', 500, 'USD', now(), now()
     from unnest($1::text[], $2::text[]) as a(id, payment)`,
      [opened.map(({ attemptId }) => attemptId), opened.map(({ paymentId }) => paymentId)],
    )
    for (const { attemptId } of opened) await awaitDeposit(fixture.db, keys, attemptId)
    return opened.map(({ paymentId }) => keys.deriveAddress(paymentId))
  }

  const cursors = async (): Promise<{ payouts: number; deposits: number }> =>
    (
      await fixture.db.query(
        'select scanned_number::int as payouts, deposits_number::int as deposits from chain_cursor',
      )
    ).rows[0] as { payouts: number; deposits: number }

  /** The calls about deposits of one round over some new final blocks. */
  async function callsOfOneRound(): Promise<number> {
    await fixture.chain.mine({ blocks: 3 })
    const before = node.calls.length
    await runner().tick()
    const { payouts, deposits: read } = await cursors()
    expect(read).toBe(payouts)
    return node.calls.slice(before).filter(isAboutDeposits).length
  }

  test('no logs are requested while none of 500 addresses holds more, and then only those of the one that does', async () => {
    const addresses = await watch(500)
    await runner().tick()
    expect(await callsOfOneRound()).toBe(0)
    await mintUsdc(fixture.chain, { to: addresses.at(-1)!, micro: 5_000_000n })
    expect(await callsOfOneRound()).toBe(1)
    const asked = node.calls.filter(isAboutDeposits).at(-1)!
    const { topics } = asked.params[0] as { topics: unknown[] }
    expect(topics[2]).toEqual([`0x${addresses.at(-1)!.slice(2).padStart(64, '0')}`])
    expect(fixture.hookCalls.deposits.map(({ address }) => address)).toEqual([addresses.at(-1)])
  })

  test('a question about deposits that is never answered delays no payout', async () => {
    await watch(1)
    await fixture.finalize(runner())
    const before = await cursors()
    let unanswered = 0
    const silent = await startHostileNode(fixture.anvil.url)
    silent.behave = (call) => {
      if (!isAboutDeposits(call)) return 'honest'
      unanswered += 1
      return 'black_hole'
    }
    const leaving = new AbortController()
    const work = runner(silent).run(leaving.signal)
    try {
      const [address] = await watch(1)
      await mintUsdc(fixture.chain, { to: address!, micro: 5_000_000n })
      const isAsked = async () => {
        await fixture.chain.mine({ blocks: 1 })
        return unanswered > 0
      }
      await poll(isAsked, { withinMs: 20_000, everyMs: 50, what: 'the question about deposits' })
      const [queued] = await fixture.queue([{}])
      const isSettled = async () => {
        await fixture.chain.mine({ blocks: 1 })
        return (await fixture.payout(queued!.paymentId)).state === 'settled'
      }
      await poll(isSettled, { withinMs: 25_000, everyMs: 50, what: 'the payout to be settled' })
      const after = await cursors()
      expect(after.payouts).toBeGreaterThan(before.payouts)
      expect(after.deposits).toBe(before.deposits)
    } finally {
      leaving.abort()
      await silent.close()
      await work
    }
  })

  // Both readings used one range length: the first extended it each time that the second succeeded.
  test('logs that two nodes hid at first are read again, also if nodes give few blocks and more arrive each round', async () => {
    const apart = await createFixture()
    const nodes = await Promise.all([1, 2, 3].map(() => startHostileNode(apart.anvil.url)))
    try {
      let now = 0
      const urls = nodes.map(({ url }) => url)
      const engine = () =>
        apart.runner({ rpc: connectRpc({ urls, quorum: 2, chainId: TOKEN.chainId, now: () => now }), deposits })
      await apart.chain.mine({ blocks: 80 })
      await apart.finalize(engine())
      const { address } = await addAwaited(apart.db, keys, 'starved')
      await mintUsdc(apart.chain, { to: address, micro: 5_000_000n })
      for (const front of nodes.slice(1))
        front.behave = ({ method }) => (method === 'eth_getLogs' ? { lie: () => [] } : 'honest')
      await apart.chain.mine({ blocks: 8 })
      await engine().tick()
      expect(apart.hookCalls.deposits).toEqual([])
      for (const front of nodes.slice(1))
        front.behave = ({ method, params }) => {
          if (method !== 'eth_getLogs') return 'honest'
          const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
          const isFew = Number(toBlock) - Number(fromBlock) < 10
          return isFew ? 'honest' : { error: { code: -32005, message: 'limit exceeded' } }
        }
      const restarted = engine()
      for (let round = 0; round < 20 && apart.hookCalls.deposits.length === 0; round++) {
        await apart.chain.mine({ blocks: 8 })
        await restarted.tick().catch(() => undefined)
        now += 4000
      }
      expect(apart.hookCalls.deposits).toMatchObject([{ address }])
    } finally {
      await Promise.all(nodes.map((front) => front.close()))
      await apart.stop()
    }
  })

  describe('Deposits during an outage', () => {
    // The cursor moved past the money at an address whose watch had ended.
    test('a deposit during an outage is found when the engine is back, also after the watch of its address has ended', async () => {
      const weekAgo = Math.floor(Date.now() / 1000) - 7 * 86_400
      const past = await createFixture({ anvil: ['--timestamp', String(weekAgo)] })
      try {
        const engine = () => past.runner({ deposits })
        await past.finalize(engine())
        const { address } = await addAwaited(past.db, keys, 'unseen')
        await past.db.query(
          `update deposit set created_at = now() - interval '7 days', watch_until = now() - interval '6 days'`,
        )
        await mintUsdc(past.chain, { to: address, micro: 5_000_000n })
        await past.chain.mine({ blocks: 120 })
        await past.finalize(engine())
        expect(past.hookCalls.deposits).toMatchObject([{ address }])
      } finally {
        await past.stop()
      }
    })

    // A worker without the seed read the blocks for all of them.
    test('a deposit is found when a worker has the seed again that the last one lacked', async () => {
      const [address] = await watch(1)
      await fixture.finalize(runner())
      await mintUsdc(fixture.chain, { to: address!, micro: 5_000_000n })
      await fixture.finalize(fixture.runner({ deposits: null }))
      const { payouts, deposits: read } = await cursors()
      expect(read).toBeLessThan(payouts)
      await fixture.finalize(runner())
      expect(fixture.hookCalls.deposits.map((deposit) => deposit.address)).toContain(address)
    })

    // The cursor passed the blocks as soon as no address was watched, and missed 5 USDC.
    test.each(['before the first round without the seed', 'after it'])(
      'a deposit is found when the seed is back, also if the watch of the only address has ended %s',
      async (when) => {
        const alone = await createFixture()
        const endWatch = () => alone.db.query(`update deposit set watch_until = now() - interval '1 second'`)
        try {
          await alone.finalize(alone.runner({ deposits }))
          const { address } = await addAwaited(alone.db, keys, 'ended')
          await mintUsdc(alone.chain, { to: address, micro: 5_000_000n })
          if (when !== 'after it') await endWatch()
          await alone.finalize(alone.runner({ deposits: null }))
          await endWatch()
          await alone.finalize(alone.runner({ deposits: null }))
          await alone.finalize(alone.runner({ deposits }))
          expect(alone.hookCalls.deposits).toMatchObject([{ address }])
        } finally {
          await alone.stop()
        }
      },
    )

    test('without any address no deposit is found, and no block counts as behind', async () => {
      const plain = await createFixture()
      try {
        await plain.finalize(plain.runner({ deposits: null }))
        const cursor = await readChainCursor(plain.db, { chainId: TOKEN.chainId, token: TOKEN.address })
        expect(cursor?.depositsBehind).toBe(0)
      } finally {
        await plain.stop()
      }
    })
  })
})

describe('the reading after a standstill of the chain', () => {
  const HOUR = 3600
  const keys = createDepositKeys(Buffer.alloc(32, 5).toString('base64'), TOKEN.chainId)
  const now = Math.floor(Date.now() / 1000)

  const fixture = useFixture({ anvil: ['--no-mining', '--timestamp', String(now - 4 * HOUR)] })

  const block = async (timestamp: number): Promise<void> => {
    await fixture.chain.setNextBlockTimestamp({ timestamp: BigInt(timestamp) })
    await fixture.chain.mine({ blocks: 1 })
  }

  const read = async (): Promise<number> =>
    Number((await fixture.db.query('select count(*) from deposit_log')).rows[0]?.count)

  // Only watched addresses were requested: the block was new enough, and few were behind.
  test('a deposit from before a standstill of hours is read when the chain continues, also if its watch has ended by then', async () => {
    const engine = fixture.runner({ deposits: { keys, wrongTokens: [] } })
    const { paymentId, address } = await addAwaited(fixture.db, keys, 'stood_still')
    await fixture.db.query(
      `update deposit set created_at = now() - interval '5 hours', watch_until = now() - interval '2 hours' where payment_id = $1`,
      [paymentId],
    )
    fixture.clock.now = new Date((now - 3 * HOUR) * 1000)
    await block(now - 3 * HOUR)
    await engine.tick()
    // No later block makes it final.
    await fixture.chain.setNextBlockTimestamp({ timestamp: BigInt(now - 3 * HOUR + 2) })
    await mintUsdc(fixture.chain, { to: address, micro: 5_000_000n })
    await engine.tick()
    expect(await read()).toBe(0)
    fixture.clock.now = new Date(now * 1000)
    for (const second of [-6, -4, -2, 0]) await block(now + second)
    await engine.tick()
    expect(await read()).toBe(1)
  })
})
