import { describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { createTreasurySigner, type TreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import { LeaseLostError, type SignedPayout } from '../../src/domain/settlement/payout.ts'
import { copyDatabase } from './databases.ts'
import { type Fixture, type Queued, queueAll, TOKEN, useFixture } from './fixture.ts'
import { freeLead, nothingFound, takeLane, tryLead } from './lead.ts'

describe('several engines', () => {
  const fixture = useFixture({ relayers: 2 })

  async function paidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await fixture.balance(recipient)).toBe(micro)
      expect((await fixture.payout(paymentId)).state).toBe('settled')
    }
  }

  const openJournal = (target: Fixture) =>
    createSettlementJournal({
      db: target.db,
      scope: { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address },
      hooks: target.hooks,
    })

  test('an engine whose lease was taken over cannot write for the lane any more', async () => {
    const journal = openJournal(fixture)
    const wallet = fixture.relayers[0]!.address.toLowerCase() as `0x${string}`
    await fixture.runner().tick()
    const stale = await takeLane(journal, { owner: 'first', leaseMs: 0, wallet })
    const fresh = await takeLane(journal, { owner: 'second', wallet })
    expect(BigInt(fresh.lease.epoch)).toBeGreaterThan(BigInt(stale.lease.epoch))
    expect(await tryLead(journal, { owner: 'first' })).toBeNull()
    await fixture.queue([{}])
    await freeLead(fixture.db)
    await fixture.runner({ relayers: [fixture.relayers[1]!], options: { maxInFlight: 0 } }).tick()
    const encode = () => ({ target: wallet, calldata: '0x' as const, gasLimit: 1n })
    await expect(
      journal.reserve(stale, { payouts: await journal.readAssignable({ limit: 1, resting: [] }), encode }),
    ).rejects.toThrow(LeaseLostError)
    await expect(
      journal.storeAttempt(stale, {
        nonce: 0,
        txHash: `0x${'ab'.repeat(32)}`,
        raw: '0x',
        maxFee: 1n,
        tip: 1n,
        signedBlock: 1,
      }),
    ).rejects.toThrow(LeaseLostError)
    await expect(journal.setLaneStatus(stale, { status: 'open', reason: null })).rejects.toThrow(LeaseLostError)
    const ended = { ends: [{ nonce: 0, state: 'foreign' }], chainTime: 0, found: nothingFound() } as const
    await expect(journal.endEnvelopes(stale, ended)).rejects.toThrow(LeaseLostError)
    await expect(journal.adoptNonces(stale, 5)).rejects.toThrow(LeaseLostError)
    await journal.releaseLead('second')
  })

  test('a payout that must be voided since it was read is not sent as a transfer', async () => {
    const journal = openJournal(fixture)
    const wallet = fixture.relayers[1]!.address.toLowerCase() as Hex
    const [paid, voided] = await fixture.queue([{}, {}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const asked = [paid!.paymentId, voided!.paymentId]
    const payouts = (await journal.readAssignable({ limit: 10, resting: [] })).filter(({ ownerId }) =>
      asked.includes(ownerId),
    )
    expect(payouts).toHaveLength(2)
    await fixture.db.transaction((tx) => requestVoid(tx, voided!.paymentId))
    const firstNonce = await fixture.chain.getTransactionCount({ address: wallet })
    const lane = await takeLane(journal, { owner: 'third', wallet, nonce: firstNonce })
    const carried: string[] = []
    const encode = (free: readonly SignedPayout[]) => {
      carried.push(...free.map(({ ownerId }) => ownerId))
      return { target: wallet, calldata: '0x' as const, gasLimit: 30_000n }
    }
    await journal.reserve(lane, { payouts, encode })
    expect(carried).toEqual([paid!.paymentId])
    await journal.releaseLead('third')
    // The envelope that this test has taken does nothing; its payout is free again and paid.
    await fixture.finalize(fixture.runner(), 4)
    await paidOnce([paid!])
    expect(await fixture.balance(voided!.recipient)).toBe(0n)
    const { rows } = await fixture.db.query(`select owner_id, outcome from lane_tx_item where outcome is not null`)
    expect(rows).toEqual([{ owner_id: paid!.paymentId, outcome: 'refused' }])
  })

  test('a signed payout is sent at once, and not when the next round is due', async () => {
    const queued = await fixture.queue([{}])
    let look = (): void => undefined
    const looked = new Promise<void>((resolve) => {
      look = resolve
    })
    // Signs only after the lanes have found nothing to send.
    const signer = createTreasurySigner(fixture.treasury, {
      livemode: false,
      token: TOKEN,
      maxMicroPerPayout: 10n ** 12n,
    })
    const slow: TreasurySigner = {
      ...signer,
      signTransfer: (payout, validBefore) => looked.then(() => signer.signTransfer(payout, validBefore)),
    }
    const query: Fixture['db']['query'] = async (text, values) => {
      const result = await fixture.db.query(text, values)
      if (text.includes('from payout_signature') && text.includes('lateral')) look()
      return result
    }
    const stop = new AbortController()
    const changes = { everyMs: 3_600_000, treasuries: [slow], db: { ...fixture.db, query } }
    const running = fixture.runner(changes).run(stop.signal)
    await until(
      () => fixture.payout(queued[0]!.paymentId),
      ({ state }) => state === 'broadcast',
    )
    stop.abort()
    await running
    await fixture.finalize(fixture.runner())
    await paidOnce(queued)
  })

  test('a worker that starts with an empty queue opens its lanes as soon as it has read a block', async () => {
    await fixture.reset()
    const stop = new AbortController()
    const running = fixture.runner({ everyMs: 20 }).run(stop.signal)
    await until(
      async () => (await fixture.db.query('select from lane')).rowCount,
      (count) => count === fixture.relayers.length,
    )
    stop.abort()
    await running
  })

  test('while one engine holds the lease another one waits', async () => {
    const first = fixture.runner({ options: { leaseMs: 60_000 } })
    await first.tick()
    const queued = await fixture.queue([{}])
    const second = fixture.runner({ options: { leaseMs: 60_000 } })
    await second.tick()
    expect((await fixture.payout(queued[0]!.paymentId)).lane).toBeNull()
    await fixture.finalize(first)
    await paidOnce(queued)
    await freeLead(fixture.db)
  })

  test('two engines at once, with leases that do not protect, pay each payout once', async () => {
    const queued = await fixture.queue(Array.from({ length: 230 }, () => ({})))
    const engines = [fixture.runner(), fixture.runner()]
    for (let round = 0; round < 6; round++) {
      await Promise.allSettled(engines.map((engine) => engine.tick()))
      await fixture.chain.mine({ blocks: 2 })
    }
    await fixture.finalize(engines[0]!)
    await paidOnce(queued)
    const { rows } = await fixture.db.query(
      `select wallet, count(*)::int as nonces, max(nonce)::int + 1 as next from lane_tx group by wallet`,
    )
    for (const row of rows as { nonces: number; next: number }[]) expect(row.nonces).toBe(row.next)
  })

  test('a lane takes over the batches of another one that has no gas money', async () => {
    await fixture.chain.setBalance({ address: fixture.relayers[0]!.address, value: 0n })
    const queued = await fixture.queue(Array.from({ length: 3 }, () => ({})))
    await fixture.finalize(fixture.runner())
    await paidOnce(queued)
    await fixture.chain.setBalance({ address: fixture.relayers[0]!.address, value: 10n ** 22n })
  })

  test('a database restored from an older dump pays no payout twice, and finds the paid ones', async () => {
    const before = await fixture.queue(Array.from({ length: 5 }, () => ({})))
    const dump = await copyDatabase(fixture.db)
    const after = await fixture.queue(Array.from({ length: 5 }, () => ({})))
    await fixture.finalize(fixture.runner())
    await paidOnce([...before, ...after])

    const { db } = dump
    try {
      const settled = fixture.hookCalls.settled.length
      const runner = fixture.runner({ db })
      await fixture.finalize(runner)
      expect(fixture.hookCalls.settled.length - settled).toBe(before.length)
      // Payments that the dump had forgotten come back, and request their payout again.
      await queueAll({ ...fixture, db }, after)
      await fixture.finalize(runner)
      expect(fixture.hookCalls.settled.length - settled).toBe(before.length + after.length)
      const { rows } = await db.query(
        `select count(*)::int as open from payout where state not in ('settled', 'voided')`,
      )
      expect(rows).toEqual([{ open: 0 }])
      for (const { recipient, micro } of [...before, ...after]) expect(await fixture.balance(recipient)).toBe(micro)
      // A restored backup alone stops nothing: new payouts are paid.
      const [next] = await queueAll({ ...fixture, db }, [{}])
      await fixture.finalize(runner, 3)
      expect(await fixture.balance(next!.recipient)).toBe(next!.micro)
    } finally {
      dump.giveBack()
    }
  })
})
