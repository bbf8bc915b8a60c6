import { beforeEach, describe, expect, test } from '@jest/globals'
import { encodeFunctionData } from 'viem/utils'
import { createTreasurySigner, type TreasurySigner } from '../../../src/chain/authorization.ts'
import { createKeyAccount } from '../../../src/chain/keys/private-key.ts'
import { connectRpc, type Rpc } from '../../../src/chain/rpc/rpc.ts'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { listSettlementAttention } from '../../../src/db/settlement/observer/standing.ts'
import { requestVoid } from '../../../src/db/settlement/payouts.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { asUsdcOwner, mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { newAddress, newKey, type Queued, queueAll, TOKEN, useFixture } from '../fixture.ts'
import { freeLead } from '../lead.ts'
import { createList, newPaymentId } from '../rotation-fixture.ts'

describe('A payout whose payment cannot be notified', () => {
  /** A payout that must be stopped, and whose payment cannot be notified. */

  const fixture = useFixture()

  const callOwner = (functionName: 'blacklist' | 'unBlacklist', wallet: Hex): Promise<void> =>
    asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [wallet] }))

  /** Payments that refuse to be notified. */
  const refusing = () => {
    const stoppedIds: string[] = []
    const onStopped = async (_tx: unknown, { ownerId }: { ownerId: string }): Promise<void> => {
      stoppedIds.push(ownerId)
      throw new Error('a column is missing')
    }
    return { stoppedIds, hooks: { onStopped } }
  }

  const queueBlocked = async () => {
    const blocked = newAddress()
    await callOwner('blacklist', blocked)
    const [held, paid] = [...(await fixture.queue([{ recipient: blocked }])), ...(await fixture.queue([{}]))]
    return { blocked, held: held!, paid: paid! }
  }

  // No payout was paid any more.
  test('a payout that cannot be stopped is shown, is tried again after half a minute, and keeps no other from being signed', async () => {
    const { held, paid } = await queueBlocked()
    const { stoppedIds, hooks } = refusing()
    await fixture.finalize(fixture.runner({ hooks }), 3)
    expect((await fixture.payout(paid.paymentId)).state).toBe('settled')
    expect(await fixture.payout(held.paymentId)).toMatchObject({ state: 'queued', hookError: 'a column is missing' })
    expect(stoppedIds).toEqual([held.paymentId])
    expect(await listSettlementAttention(fixture.db)).toMatchObject([{ kind: 'payout_hook', subject: held.paymentId }])
    await fixture.db.query(`update payout set hook_retry_at = now() where payment_id = $1`, [held.paymentId])
    await fixture.runner().tick()
    expect(await fixture.payout(held.paymentId)).toMatchObject({
      state: 'stopped',
      stopReason: 'blacklisted',
      hookError: null,
    })
  })

  test('a payout that cannot be stopped keeps no other that is signed from being sent', async () => {
    const [held] = await fixture.queue([{}])
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    await fixture.db.query('update payout set refusals = 3 where payment_id = $1', [held!.paymentId])
    const { stoppedIds, hooks } = refusing()
    const [paid] = await fixture.queue([{}])
    await fixture.finalize(fixture.runner({ hooks }), 3)
    expect((await fixture.payout(paid!.paymentId)).state).toBe('settled')
    expect(stoppedIds).toEqual([held!.paymentId])
    expect((await fixture.payout(held!.paymentId)).state).toBe('authorized')
  })

  test('a payout waits for the next round while another transaction has locked its payment', async () => {
    const { held, paid } = await queueBlocked()
    await fixture.db.transaction(async (tx) => {
      await tx.query('select 1 from payment where id = $1 for update', [held.paymentId])
      await fixture.finalize(fixture.runner(), 2)
      expect((await fixture.payout(paid.paymentId)).state).toBe('settled')
      expect(await fixture.payout(held.paymentId)).toMatchObject({ state: 'queued', hookError: null })
    })
    await fixture.runner().tick()
    expect((await fixture.payout(held.paymentId)).state).toBe('stopped')
  })
})

describe('two engines that sign in turn', () => {
  /** Two engines that sign in turn, while the first of them waits for the balance of the treasury. */

  const BALANCE = 100_000_000n
  const MOST_OF_IT = 90_000_000n

  const fixture = useFixture({ micro: BALANCE })
  beforeEach(() => fixture.reset())

  /** Nodes that report the balance, and then nothing until `meanwhile` is over. */
  function slowBalance(meanwhile: () => Promise<void>): Rpc {
    const rpc = connectRpc({ urls: [fixture.anvil.url], quorum: 1, chainId: TOKEN.chainId })
    return {
      ...rpc,
      async demand(what, read) {
        const answer = await rpc.demand(what, read)
        if (what === 'what the state of token and treasury is') await meanwhile()
        return answer
      },
    }
  }

  const signatures = async ({ paymentId }: Queued): Promise<number> => {
    const { rows } = await fixture.db.query('select from payout_signature where owner_id = $1', [paymentId])
    return rows.length
  }

  // It was signed for again: settled it was not promised any more, and it was in the balance of the block before.
  test('an amount that is settled while the balance is read is not promised to the next payout', async () => {
    const other = fixture.runner()
    const [first] = await fixture.queue([{ micro: MOST_OF_IT }])
    await other.tick()
    const [second] = await fixture.queue([{ micro: MOST_OF_IT }])
    const rpc = slowBalance(async () => {
      await fixture.chain.mine({ blocks: 4 })
      // Nobody else signs: this lease has not ended.
      await freeLead(fixture.db)
      await fixture.runner({ relayers: [] }).tick()
      await fixture.runner({ relayers: [] }).tick()
      expect((await fixture.payout(first!.paymentId)).state).toBe('settled')
    })
    await fixture.runner({ rpc, options: { leaseMs: 60_000 } }).tick()
    expect(await signatures(second!)).toBe(0)
  })

  // Both were signed.
  test('an engine that lost its right to sign to another one signs none of its chosen payouts', async () => {
    const [first] = await fixture.queue([{ micro: MOST_OF_IT }])
    let second: Queued | undefined
    const rpc = slowBalance(async () => {
      await fixture.db.query(`update payout set state = 'stopped', stop_reason = 'refused' where payment_id = $1`, [
        first!.paymentId,
      ])
      ;[second] = await fixture.queue([{ micro: MOST_OF_IT }])
      // Its lease has ended, and so has that of the other one when it comes back.
      await fixture.runner({ relayers: [] }).tick()
      expect(await signatures(second!)).toBe(1)
      await fixture.db.query(`update payout set state = 'queued', stop_reason = null where payment_id = $1`, [
        first!.paymentId,
      ])
    })
    await fixture.runner({ rpc, relayers: [] }).tick()
    expect(await signatures(first!)).toBe(0)
    expect((await fixture.payout(first!.paymentId)).state).toBe('queued')
  })
})

describe('a payout that can never be signed', () => {
  const fixture = useFixture({ micro: 100_000_000n })
  beforeEach(() => fixture.reset())
  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 50_000_000n }

  test.each([
    ['more than the policy allows', 90_000_000n],
    ['more than the treasury has', 900_000_000n],
  ])(
    'a payout that can never be signed uses neither funds nor the limit of a day, also not for its recipient: %s',
    async (_case, micro) => {
      const recipient = newAddress()
      const [refused, ...others] = await fixture.queue([
        { micro, recipient },
        { micro: 50_000_000n, recipient },
        { micro: 50_000_000n },
      ])
      const treasuries = [createTreasurySigner(fixture.treasury, policy)]
      await fixture.runner({ treasuries, options: { maxInFlight: 0, maxMicroPerDay: 100_000_000n } }).tick()
      for (const { paymentId } of others) expect((await fixture.payout(paymentId)).state).toBe('authorized')
      const [whole, rest] = [micro / 1_000_000n, '000000']
      expect(await fixture.payout(refused!.paymentId)).toMatchObject({
        state: 'stopped',
        stopReason: 'policy',
        stopDetail: `a payout must be more than nothing and at most 50.000000 USDC (PAYOUT_MAX_USDC), and this one is ${whole}.${rest} USDC`,
      })
    },
  )

  test('a payout that can never be signed is stopped also while the treasury rests, and if it was stopped for funds before', async () => {
    const [refused] = await fixture.queue([{ micro: 90_000_000n }])
    await fixture.db.query(`update payout set state = 'stopped', stop_reason = 'funds', stop_detail = 'too little'`)
    await asUsdcOwner(fixture.chain, encodeFunctionData({ abi: usdcAdminAbi, functionName: 'pause' }))
    await fixture.runner({ treasuries: [createTreasurySigner(fixture.treasury, policy)] }).tick()
    expect((await fixture.payout(refused!.paymentId)).stopReason).toBe('policy')
  })
})

describe('A key service that refuses sometimes', () => {
  /** A key service that refuses sometimes: signed payouts are stored, the rest is signed later, at a rate it allows. */

  const policy = { livemode: false, token: TOKEN, maxMicroPerPayout: 10n ** 12n }
  const REFUSED = new Error('ThrottlingException: rate exceeded')

  const fixture = useFixture({ relayers: 2 })

  /** The fixture’s treasury behind a service that decides about each call by its number. */
  function treasuryThat(refuses: (call: number) => boolean): TreasurySigner & { calls(): number } {
    const signer = createTreasurySigner(fixture.treasury, policy)
    let calls = 0
    const ask = async <T>(work: () => Promise<T>): Promise<T> => {
      calls += 1
      if (refuses(calls)) throw REFUSED
      return work()
    }
    return {
      ...signer,
      signTransfer: (payout, validBefore) => ask(() => signer.signTransfer(payout, validBefore)),
      signCancellation: (payout) => ask(() => signer.signCancellation(payout)),
      calls: () => calls,
    }
  }

  const signed = async (queued: readonly Queued[]): Promise<number> => {
    const ids = queued.map(({ paymentId }) => paymentId)
    const { rows } = await fixture.db.query(
      'select count(distinct owner_id)::int as count from payout_signature where owner_id = any($1)',
      [ids],
    )
    return (rows[0] as { count: number }).count
  }

  async function paidOnce(queued: readonly Queued[]): Promise<void> {
    for (const { paymentId, recipient, micro } of queued) {
      expect(await fixture.balance(recipient)).toBe(micro)
      expect((await fixture.payout(paymentId)).state).toBe('settled')
    }
  }

  test('a service that refuses 3 % of its calls signs 291 of 300 payouts in the first round, and all in the second', async () => {
    const queued = await fixture.queue(Array.from({ length: 300 }, () => ({})))
    const treasuries = [treasuryThat((call) => call % 33 === 0)]
    const runner = fixture.runner({ treasuries, options: { maxInFlight: 0 } })
    await runner.tick()
    expect(await signed(queued)).toBe(291)
    await runner.tick()
    expect(await signed(queued)).toBe(300)
    await fixture.finalize(fixture.runner({ treasuries }), 3)
    await paidOnce(queued)
  })

  test('a service that signs one of many payouts leaves that one signed', async () => {
    const queued = await fixture.queue(Array.from({ length: 20 }, () => ({})))
    await fixture.runner({ treasuries: [treasuryThat((call) => call !== 7)], options: { maxInFlight: 0 } }).tick()
    expect(await signed(queued)).toBe(1)
    await fixture.finalize(fixture.runner(), 3)
    await paidOnce(queued)
  })

  test('a service that is down is asked for one batch a round, and not for the whole queue', async () => {
    const queued = await fixture.queue(Array.from({ length: 120 }, () => ({})))
    const down = treasuryThat(() => true)
    await expect(fixture.runner({ treasuries: [down] }).tick()).rejects.toThrow(REFUSED)
    expect(down.calls()).toBe(25)
    expect(await signed(queued)).toBe(0)
    await fixture.finalize(fixture.runner(), 3)
    await paidOnce(queued)
  })

  test('signed cancellations are stored too, and a refusal of them keeps no transfer from being signed', async () => {
    const unwanted = await fixture.queue([{}, {}])
    const wanted = await fixture.queue([{}])
    for (const { paymentId } of unwanted) await fixture.db.transaction((tx) => requestVoid(tx, paymentId))
    const runner = fixture.runner({ treasuries: [treasuryThat((call) => call === 1)], options: { maxInFlight: 0 } })
    await runner.tick()
    expect([await signed(unwanted), await signed(wanted)]).toEqual([1, 1])
    await fixture.finalize(fixture.runner(), 3)
    await paidOnce(wanted)
    for (const { paymentId } of unwanted) expect((await fixture.payout(paymentId)).state).toBe('voided')
  })

  describe('Signing has one owner', () => {
    test('three workers at the same time sign each payout once', async () => {
      const queued = await fixture.queue(Array.from({ length: 60 }, () => ({})))
      const treasuries = [treasuryThat(() => false)]
      const workers = [1, 2, 3].map(() => fixture.runner({ treasuries, options: { leaseMs: 60_000, maxInFlight: 0 } }))
      await Promise.all(workers.map((worker) => worker.tick()))
      expect(treasuries[0]!.calls()).toBe(60)
      await freeLead(fixture.db)
      await fixture.finalize(fixture.runner(), 3)
      await paidOnce(queued)
    })

    test('a worker takes over the expired lease of another one', async () => {
      await fixture.runner({ options: { leaseMs: 60_000 } }).tick()
      const queued = await fixture.queue([{}])
      await fixture.db.query(`update chain_cursor set owner = 'dead', lease_until = now() + interval '1 minute'`)
      const next = fixture.runner()
      await next.tick()
      expect(await signed(queued)).toBe(0)
      await fixture.db.query(`update chain_cursor set lease_until = now() - interval '1 second'`)
      await fixture.finalize(fixture.runner(), 3)
      await paidOnce(queued)
    })
  })

  test('payouts that a resting treasury has signed do not count as waiting for lanes', async () => {
    await fixture.queue([{}, {}])
    const treasury = fixture.treasury.address.toLowerCase() as Hex
    await fixture.runner({ options: { maxInFlight: 0 } }).tick()
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    const journal = createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
    const waiting = await journal.countWaiting([])
    expect(waiting).toBeGreaterThanOrEqual(2)
    expect(await journal.countWaiting([treasury])).toBe(0)
    await fixture.finalize(fixture.runner(), 3)
  })

  test('a treasury whose key refuses does not keep another treasury from signing', async () => {
    const other = createKeyAccount(newKey())
    await mintUsdc(fixture.chain, { to: other.address, micro: 1_000_000_000n })
    const refused = await fixture.queue([{}])
    const treasuries = [createTreasurySigner(other, policy), treasuryThat(() => true)]
    const treasuryList = createList(fixture.treasury, other)
    const round = () =>
      fixture
        .runner({ treasuries, treasuryList })
        .tick()
        .catch((refusal: unknown) => expect(refusal).toBe(REFUSED))
    await round()
    const paid = await queueAll({ ...fixture, treasury: other }, [{ paymentId: newPaymentId() }])
    await round()
    expect([await signed(refused), await signed(paid)]).toEqual([0, 1])
    await fixture.finalize(fixture.runner({ treasuries: [treasuries[0]!, treasuryThat(() => false)], treasuryList }), 3)
    await paidOnce([...refused, ...paid])
  })

  test('a treasury that is on the blacklist rests, and its long queue keeps no other treasury from paying', async () => {
    await fixture.reset()
    const other = createKeyAccount(newKey())
    await mintUsdc(fixture.chain, { to: other.address, micro: 1_000_000_000n })
    const admin = (functionName: 'blacklist' | 'unBlacklist') =>
      asUsdcOwner(
        fixture.chain,
        encodeFunctionData({ abi: usdcAdminAbi, functionName, args: [fixture.treasury.address] }),
      )
    const treasuries = [createTreasurySigner(other, policy), createTreasurySigner(fixture.treasury, policy)]
    const treasuryList = createList(fixture.treasury, other)
    const waiting = await fixture.queue(Array.from({ length: 300 }, () => ({})))
    await fixture.runner({ treasuries, treasuryList, relayers: [] }).tick()
    expect(await signed(waiting)).toBe(300)
    const runner = fixture.runner({ treasuries, treasuryList, options: { maxInFlight: 1 } })
    await admin('blacklist')
    const paid = await queueAll({ ...fixture, treasury: other }, [{ paymentId: newPaymentId() }])
    await fixture.finalize(runner, 4)
    await paidOnce(paid)
    expect(fixture.hookCalls.stopped.map(({ ownerId }) => ownerId)).not.toContain(waiting[0]!.paymentId)
    await admin('unBlacklist')
    fixture.clock.now = new Date(fixture.clock.now.getTime() + 60_000)
    await fixture.finalize(runner, 4)
    await paidOnce(waiting)
  })
})
