import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { until as eventually } from '../../scripts/test/until.ts'
import { createTreasurySigner, type TreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { type LossyProxy, startLossyProxy } from '../support/anvil.ts'
import { type RunnerChanges, TOKEN, useFixture } from './fixture.ts'
import { tryLead } from './lead.ts'

describe('leases', () => {
  const fixture = useFixture()
  let proxy: LossyProxy
  beforeAll(async () => {
    proxy = await startLossyProxy(fixture.anvil.url)
  })
  afterAll(() => proxy.close())

  const LEASE_MS = 900

  // A slow round must not cost the lead.
  test('the lead is renewed while a key takes long to sign: no other engine takes over in between', async () => {
    const until = async (): Promise<number> => {
      const { rows } = await fixture.db.query('select lease_until from chain_cursor')
      return (rows[0] as { lease_until: Date }).lease_until.getTime()
    }
    const taken: unknown[] = []
    const [account] = fixture.relayers
    const slow: LocalAccount = {
      ...account!,
      async signTransaction(transaction, options) {
        const before = await until()
        await eventually(until, (now) => now >= before + LEASE_MS)
        const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
        const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
        taken.push(await tryLead(journal, { owner: 'another engine' }))
        return account!.signTransaction(transaction, options)
      },
    }
    const stop = new AbortController()
    const running = fixture.runner({ options: { leaseMs: LEASE_MS }, relayers: [slow] }).run(stop.signal)
    const [queued] = await fixture.queue([{}])
    await eventually(
      async () => {
        await fixture.chain.mine({ blocks: 1 })
        return fixture.payout(queued!.paymentId)
      },
      ({ state }) => state === 'settled',
    )
    stop.abort()
    await running
    expect(new Set(taken)).toEqual(new Set([null]))
  })

  /** The first of two workers has a fault; Postgres answers both. */
  describe('A faulty worker gives the lead to another one, which pays', () => {
    const FAULTY = 'the worker with the fault'
    /** It is returned after twice this time without a result. */
    const SHORT_LEASE_MS = 500
    const leads = () =>
      eventually(
        async () => (await fixture.db.query('select 1 from chain_cursor where owner = $1', [FAULTY])).rowCount,
        (count) => count === 1,
      )
    const refuse = (): Promise<never> => Promise.reject(new Error('the key service refuses'))

    async function outworked(first: RunnerChanges, part: string): Promise<void> {
      const stop = new AbortController()
      const options = { leaseMs: SHORT_LEASE_MS, rebroadcastMs: 500 }
      const changes = { everyMs: 50, options }
      const given: string[] = []
      const warn = (_about: object, message: string): void => void given.push(message)
      const owner = { owner: FAULTY }
      const running = [
        fixture.runner({ ...changes, ...first, options: { ...options, ...owner }, warn }).run(stop.signal),
      ]
      try {
        const [queued] = await fixture.queue([{}])
        // It alone has led.
        await eventually(
          async () => given.join('\n'),
          (warnings) => warnings.includes(`gets nowhere, because ${part}`),
        )
        running.push(fixture.runner(changes).run(stop.signal))
        await eventually(
          async () => {
            await fixture.chain.mine({ blocks: 1 })
            return fixture.payout(queued!.paymentId)
          },
          ({ state }) => state === 'settled',
        )
      } finally {
        stop.abort()
        await Promise.all(running)
      }
    }

    test('a worker gives up the lead if no node answers it', async () => {
      let isCutOff = false
      proxy.decide = () => (isCutOff ? 'lose_request' : 'deliver')
      const cutOff = leads().then(() => (isCutOff = true))
      await Promise.all([outworked({ url: proxy.url }, 'the nodes show it nothing new'), cutOff])
    })

    // It kept the lead for as long as its nodes took to catch up.
    test('a worker gives up the lead if its nodes are behind the last final block', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x1', false] })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(fixture.anvil.url, { method: 'POST', headers, body })
      const { result: old } = (await answer.json()) as { result: unknown }
      let isBehind = false
      proxy.decide = ({ method, params }) =>
        isBehind && method === 'eth_getBlockByNumber' && (params[0] === 'finalized' || params[0] === 'latest')
          ? { rewrite: () => old }
          : 'deliver'
      const fallBack = leads().then(() => (isBehind = true))
      await Promise.all([outworked({ url: proxy.url }, 'the nodes show it nothing new'), fallBack])
    })

    // It took the block at which its nodes had stopped for the end of the chain.
    test('a worker gives up the lead if its nodes have stopped at a block and still answer', async () => {
      const stopped = new Map<unknown, unknown>()
      let hasStopped = false
      proxy.decide = ({ method, params: [tag] }) => {
        if (!hasStopped || method !== 'eth_getBlockByNumber' || (tag !== 'finalized' && tag !== 'latest'))
          return 'deliver'
        return {
          rewrite(block) {
            if (!stopped.has(tag)) stopped.set(tag, block)
            // For longer than blocks may take, between any two answers.
            else fixture.clock.now = new Date(fixture.clock.now.getTime() + 31_000)
            return stopped.get(tag)
          },
        }
      }
      const stop = leads().then(() => (hasStopped = true))
      await Promise.all([outworked({ url: proxy.url }, 'the nodes show it nothing new'), stop])
      proxy.decide = () => 'deliver'
      fixture.clock.now = new Date()
    })

    test('a worker keeps the lead while finality stalls for all nodes', async () => {
      const asked: number[] = []
      proxy.decide = ({ method, params }) => {
        if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return 'deliver'
        asked.push(performance.now())
        return { error: { code: -32000, message: 'finalized block not found' } }
      }
      const warnings: string[] = []
      const stop = new AbortController()
      const changes = {
        url: proxy.url,
        everyMs: 50,
        options: { leaseMs: SHORT_LEASE_MS },
        warn: (_about: object, message: string) => warnings.push(message),
      }
      const running = fixture.runner(changes).run(stop.signal)
      await eventually(
        async () => (asked.at(-1) ?? 0) - (asked[0] ?? 0),
        (passedMs) => passedMs > 4 * SHORT_LEASE_MS,
      )
      stop.abort()
      await running
      proxy.decide = () => 'deliver'
      expect(warnings.filter((message) => message.includes('gets nowhere'))).toEqual([])
    })

    test('a worker gives up the lead if the key of the treasury refuses', async () => {
      const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
      const signer: TreasurySigner = { ...createTreasurySigner(fixture.treasury, policy), signTransfer: refuse }
      await outworked({ treasuries: [signer] }, 'its treasury key signs nothing')
    })

    test('a worker gives up the lead if the keys of the relayers refuse', async () => {
      const relayers = fixture.relayers.map((account): LocalAccount => ({ ...account, signTransaction: refuse }))
      await outworked({ relayers }, 'its relayer keys sign nothing')
    })
  })
})
