import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { until as eventually } from '../../scripts/test/until.ts'
import { createTreasurySigner, type TreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { type LossyProxy, startLossyProxy } from '../support/anvil.ts'
import { type RunnerChanges, TOKEN, useWorld } from './world.ts'

describe('leases', () => {
  const world = useWorld()
  let proxy: LossyProxy
  beforeAll(async () => {
    proxy = await startLossyProxy(world.anvil.url)
  })
  afterAll(() => proxy.close())

  const LEASE_MS = 900

  /** Waits until a lease lasts longer than it did by more than its own time: it was renewed. */
  async function outlast(table: 'chain_cursor' | 'lane'): Promise<void> {
    const until = async (): Promise<number> => {
      const { rows } = await world.db.query(`select lease_until from ${table}`)
      return (rows[0] as { lease_until: Date }).lease_until.getTime()
    }
    const before = await until()
    const deadline = Date.now() + 10_000
    while ((await until()) < before + LEASE_MS) if (Date.now() > deadline) throw new Error('the lease was not renewed')
  }

  const journalOfOther = () => {
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    return createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
  }
  const ask = { owner: 'another engine', leaseMs: LEASE_MS }

  test('the lease of the observer is renewed while a round takes long: no other engine takes over in between', async () => {
    const taken: unknown[] = []
    const runner = world.runner({
      options: { leaseMs: LEASE_MS, owner: 'this engine' },
      hooks: {
        onSettled: async () => {
          await outlast('chain_cursor')
          taken.push(
            await journalOfOther().leaseObserver({ ...ask, start: { number: 0, hash: `0x${'0'.repeat(64)}` } }),
          )
        },
      },
    })
    const [queued] = await world.queue([{}])
    await world.finalize(runner)
    expect(taken).toEqual([null])
    expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  })

  test('the lease of a lane is renewed while its key takes long to sign', async () => {
    const taken: unknown[] = []
    const [account] = world.relayers
    const slow: LocalAccount = {
      ...account!,
      async signTransaction(transaction, options) {
        await outlast('lane')
        taken.push(
          await journalOfOther().leaseLane(account!.address.toLowerCase() as `0x${string}`, {
            ...ask,
            firstNonce: async () => 0,
          }),
        )
        return account!.signTransaction(transaction, options)
      },
    }
    const runner = world.runner({ options: { leaseMs: LEASE_MS, owner: 'this engine' }, relayers: [slow] })
    const [queued] = await world.queue([{}])
    await world.finalize(runner)
    expect(taken).toEqual([null])
    expect((await world.payout(queued!.paymentId)).state).toBe('settled')
  })

  /** The first of two workers has a fault; Postgres answers both. */
  describe('a worker gives its lease to another one, which pays', () => {
    const FAULTY = 'the worker with the fault'
    /** It is given back after twice this time without a result. */
    const SHORT_LEASE_MS = 500
    /** It has the observer's lease. */
    const leads = () =>
      eventually(
        async () => (await world.db.query('select 1 from chain_cursor where owner = $1', [FAULTY])).rowCount,
        (count) => count === 1,
      )
    const refuse = (): Promise<never> => Promise.reject(new Error('the key service refuses'))

    async function outworked(first: RunnerChanges, part: string): Promise<void> {
      const stop = new AbortController()
      const options = { leaseMs: SHORT_LEASE_MS, rebroadcastMs: 500 }
      const changes = { everyMs: 50, options }
      const given: unknown[] = []
      const warn = (about: object): void => void ('lease' in about && given.push(about.lease))
      const owner = { owner: FAULTY }
      const running = [world.runner({ ...changes, ...first, options: { ...options, ...owner }, warn }).run(stop.signal)]
      try {
        const [queued] = await world.queue([{}])
        // It alone has had its turn: all leases are its own.
        await eventually(
          async () => JSON.stringify(given),
          (told) => told.includes(part),
        )
        running.push(world.runner(changes).run(stop.signal))
        await eventually(
          async () => {
            await world.chain.mine({ blocks: 1 })
            return world.payout(queued!.paymentId)
          },
          ({ state }) => state === 'settled',
        )
      } finally {
        stop.abort()
        await Promise.all(running)
      }
    }

    test('when no node answers it', async () => {
      let isCutOff = false
      proxy.decide = () => (isCutOff ? 'lose_request' : 'deliver')
      const cutOff = leads().then(() => (isCutOff = true))
      await Promise.all([outworked({ url: proxy.url }, 'observer'), cutOff])
    })

    // it kept the lease for as long as its nodes took to catch up
    test('when its nodes are behind the last final block', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x1', false] })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(world.anvil.url, { method: 'POST', headers, body })
      const { result: old } = (await answer.json()) as { result: unknown }
      let isBehind = false
      proxy.decide = ({ method, params }) =>
        isBehind && method === 'eth_getBlockByNumber' && (params[0] === 'finalized' || params[0] === 'latest')
          ? { rewrite: () => old }
          : 'deliver'
      const fallBack = leads().then(() => (isBehind = true))
      await Promise.all([outworked({ url: proxy.url }, 'observer'), fallBack])
    })

    // it took what its nodes had stopped at for the end of the chain
    test('when its nodes have stopped at a block and still answer', async () => {
      const stopped = new Map<unknown, unknown>()
      let hasStopped = false
      proxy.decide = ({ method, params: [tag] }) => {
        if (!hasStopped || method !== 'eth_getBlockByNumber' || (tag !== 'finalized' && tag !== 'latest'))
          return 'deliver'
        return {
          rewrite(block) {
            if (!stopped.has(tag)) stopped.set(tag, block)
            // For longer than blocks may take, between any two answers.
            else world.clock.now = new Date(world.clock.now.getTime() + 31_000)
            return stopped.get(tag)
          },
        }
      }
      const stop = leads().then(() => (hasStopped = true))
      await Promise.all([outworked({ url: proxy.url }, 'observer'), stop])
      proxy.decide = () => 'deliver'
      world.clock.now = new Date()
    })

    test('a worker keeps its lease while finality stands still for all nodes', async () => {
      const asked: number[] = []
      proxy.decide = ({ method, params }) => {
        if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return 'deliver'
        asked.push(performance.now())
        return { error: { code: -32000, message: 'finalized block not found' } }
      }
      const told: object[] = []
      const stop = new AbortController()
      const changes = {
        url: proxy.url,
        everyMs: 50,
        options: { leaseMs: SHORT_LEASE_MS },
        warn: (about: object) => told.push(about),
      }
      const running = world.runner(changes).run(stop.signal)
      await eventually(
        async () => (asked.at(-1) ?? 0) - (asked[0] ?? 0),
        (passedMs) => passedMs > 4 * SHORT_LEASE_MS,
      )
      stop.abort()
      await running
      proxy.decide = () => 'deliver'
      expect(told.filter((about) => 'lease' in about)).toEqual([])
    })

    test('when the key of the treasury refuses', async () => {
      const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
      const signer: TreasurySigner = { ...createTreasurySigner(world.treasury, policy), signTransfer: refuse }
      await outworked({ treasuries: [signer] }, 'signing')
    })

    test('when the keys of the relayers refuse', async () => {
      const relayers = world.relayers.map((account): LocalAccount => ({ ...account, signTransaction: refuse }))
      await outworked({ relayers }, 'lane')
    })
  })
})
