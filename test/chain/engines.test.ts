import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { until as eventually, until } from '../../scripts/test/until.ts'
import { createTreasurySigner, type TreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { LeaseLostError, type SignedPayout } from '../../src/domain/settlement/payout.ts'
import { type LossyProxy, startLossyProxy } from '../support/anvil.ts'
import { copyDatabase } from './databases.ts'
import { type Queued, queueAll, type RunnerChanges, TOKEN, useWorld, type World } from './world.ts'

describe('several engines', () => {
  const world = useWorld({ relayers: 2 })

  async function paidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await world.balance(recipient)).toBe(micro)
      expect((await world.payout(paymentId)).state).toBe('settled')
    }
  }

  const journalOf = (target: World) =>
    createSettlementJournal({
      db: target.db,
      scope: { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address },
      hooks: target.hooks,
    })

  test('an engine whose lease was taken over can write nothing more for the lane', async () => {
    const journal = journalOf(world)
    const wallet = world.relayers[0]!.address.toLowerCase() as `0x${string}`
    const stale = (await journal.leaseLane(wallet, { owner: 'first', leaseMs: 0, firstNonce: 0 }))!
    const fresh = (await journal.leaseLane(wallet, { owner: 'second', leaseMs: 60_000, firstNonce: 0 }))!
    expect(BigInt(fresh.lease.epoch)).toBeGreaterThan(BigInt(stale.lease.epoch))
    expect(await journal.leaseLane(wallet, { owner: 'first', leaseMs: 0, firstNonce: 0 })).toBeNull()
    await world.queue([{}])
    await world.runner({ relayers: [world.relayers[1]!], options: { maxInFlight: 0 } }).tick()
    const encode = () => ({ target: wallet, calldata: '0x' as const, gasLimit: 1n })
    await expect(journal.reserve(stale, { payouts: await journal.readAssignable(1), encode })).rejects.toThrow(
      LeaseLostError,
    )
    await expect(
      journal.storeAttempt(stale, { nonce: 0, txHash: '0x', raw: '0x', maxFee: 1n, tip: 1n, signedBlock: 1 }),
    ).rejects.toThrow(LeaseLostError)
    await expect(journal.setLaneStatus(stale, { status: 'open', reason: null })).rejects.toThrow(LeaseLostError)
    await expect(journal.endEnvelopes(stale, { ends: [{ nonce: 0, state: 'foreign' }], chainTime: 0 })).rejects.toThrow(
      LeaseLostError,
    )
    await expect(journal.adoptNonces(stale, 5)).rejects.toThrow(LeaseLostError)
    await journal.releaseLeases('second')
  })

  test('what is to be voided since it was read is not sent as a transfer', async () => {
    const journal = journalOf(world)
    const wallet = world.relayers[1]!.address.toLowerCase() as Hex
    const [paid, voided] = await world.queue([{}, {}])
    await world.runner({ options: { maxInFlight: 0 } }).tick()
    const asked = [paid!.paymentId, voided!.paymentId]
    const payouts = (await journal.readAssignable(10)).filter(({ paymentId }) => asked.includes(paymentId))
    expect(payouts).toHaveLength(2)
    await world.db.transaction((tx) => requestVoid(tx, voided!.paymentId))
    const firstNonce = await world.chain.getTransactionCount({ address: wallet })
    const lane = (await journal.leaseLane(wallet, { owner: 'third', leaseMs: 60_000, firstNonce }))!
    const carried: string[] = []
    const encode = (free: readonly SignedPayout[]) => {
      carried.push(...free.map(({ paymentId }) => paymentId))
      return { target: wallet, calldata: '0x' as const, gasLimit: 30_000n }
    }
    await journal.reserve(lane, { payouts, encode })
    expect(carried).toEqual([paid!.paymentId])
    await journal.releaseLeases('third')
    // The envelope that this test has taken does nothing; its payout is free again and paid.
    await world.finalize(world.runner(), 4)
    await paidOnce([paid!])
    expect(await world.balance(voided!.recipient)).toBe(0n)
    const { rows } = await world.db.query(`select payment_id, outcome from lane_tx_item where outcome is not null`)
    expect(rows).toEqual([{ payment_id: paid!.paymentId, outcome: 'refused' }])
  })

  test('what is signed is sent at once, and not when the next round is due', async () => {
    const queued = await world.queue([{}])
    let look = (): void => undefined
    const looked = new Promise<void>((resolve) => {
      look = resolve
    })
    // Signs only after the lanes have looked for something to send, and found nothing.
    const signer = createTreasurySigner(world.treasury, {
      livemode: false,
      token: TOKEN,
      maxMicroPerPayout: 10n ** 12n,
    })
    const slow: TreasurySigner = {
      ...signer,
      signTransfer: (payout, validBefore) => looked.then(() => signer.signTransfer(payout, validBefore)),
    }
    const query: World['db']['query'] = async (text, values) => {
      const result = await world.db.query(text, values)
      if (text.includes('from payout_signature') && text.includes('lateral')) look()
      return result
    }
    const stop = new AbortController()
    const changes = { everyMs: 3_600_000, treasuries: [slow], db: { ...world.db, query } }
    const running = world.runner(changes).run(stop.signal)
    await until(
      () => world.payout(queued[0]!.paymentId),
      ({ state }) => state === 'broadcast',
    )
    stop.abort()
    await running
    await world.finalize(world.runner())
    await paidOnce(queued)
  })

  test('while one engine holds the lease another one waits', async () => {
    const first = world.runner({ options: { leaseMs: 60_000 } })
    await first.tick()
    const queued = await world.queue([{}])
    const second = world.runner({ options: { leaseMs: 60_000 } })
    await second.tick()
    expect((await world.payout(queued[0]!.paymentId)).lane).toBeNull()
    await world.finalize(first)
    await paidOnce(queued)
    await world.db.query(`update lane set lease_until = '-infinity'`)
    await world.db.query(`update chain_cursor set lease_until = '-infinity'`)
    await world.db.query(`update signing_lease set lease_until = '-infinity'`)
  })

  test('two engines at once, with leases that hold for nothing, pay each payout once', async () => {
    const queued = await world.queue(Array.from({ length: 230 }, () => ({})))
    const engines = [world.runner(), world.runner()]
    for (let round = 0; round < 6; round++) {
      await Promise.allSettled(engines.map((engine) => engine.tick()))
      await world.chain.mine({ blocks: 2 })
    }
    await world.finalize(engines[0]!)
    await paidOnce(queued)
    const { rows } = await world.db.query(
      `select wallet, count(*)::int as nonces, max(nonce)::int + 1 as next from lane_tx group by wallet`,
    )
    for (const row of rows as { nonces: number; next: number }[]) expect(row.nonces).toBe(row.next)
  })

  test('a lane takes over the batches of another one that has no gas money', async () => {
    await world.chain.setBalance({ address: world.relayers[0]!.address, value: 0n })
    const queued = await world.queue(Array.from({ length: 3 }, () => ({})))
    await world.finalize(world.runner())
    await paidOnce(queued)
    await world.chain.setBalance({ address: world.relayers[0]!.address, value: 10n ** 22n })
  })

  test('a database restored from an older dump pays nobody twice, and finds what was paid', async () => {
    const before = await world.queue(Array.from({ length: 5 }, () => ({})))
    const dump = await copyDatabase(world.db)
    const after = await world.queue(Array.from({ length: 5 }, () => ({})))
    await world.finalize(world.runner())
    await paidOnce([...before, ...after])

    const { db } = dump
    try {
      const settled = world.heard.settled.length
      const runner = world.runner({ db })
      await world.finalize(runner)
      expect(world.heard.settled.length - settled).toBe(before.length)
      // Payments that the dump had forgotten come back, and ask for their payout again.
      await queueAll({ ...world, db }, after)
      await world.finalize(runner)
      expect(world.heard.settled.length - settled).toBe(before.length + after.length)
      const { rows } = await db.query(
        `select count(*)::int as open from payout where state not in ('settled', 'voided')`,
      )
      expect(rows).toEqual([{ open: 0 }])
      for (const { recipient, micro } of [...before, ...after]) expect(await world.balance(recipient)).toBe(micro)
      // A restored backup alone stops nothing: new payouts are paid.
      const [next] = await queueAll({ ...world, db }, [{}])
      await world.finalize(runner, 3)
      expect(await world.balance(next!.recipient)).toBe(next!.micro)
    } finally {
      dump.giveBack()
    }
  })
})

describe('leases', () => {
  const world = useWorld()
  let proxy: LossyProxy
  beforeAll(async () => {
    proxy = await startLossyProxy(world.anvil.url)
  })
  afterAll(() => proxy.close())

  const LEASE_MS = 900

  /** Waits until a lease lasts longer than it did by more than its own time: it was renewed meanwhile. */
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
          await journalOfOther().leaseLane(account!.address.toLowerCase() as `0x${string}`, { ...ask, firstNonce: 0 }),
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

  /** Of two workers the first has a fault; Postgres answers both. */
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
