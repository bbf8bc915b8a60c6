import { describe, expect, test } from '@jest/globals'
import { createTreasurySigner } from '../../src/chain/authorization.ts'
import { accountOf } from '../../src/chain/keys/private-key.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { listSettlementAttention } from '../../src/db/settlement/watch/standing.ts'
import { newId } from '../../src/ids.ts'
import { repairFinality } from '../../src/operator/repair.ts'
import { copyDatabase } from './databases.ts'
import { readWork } from './lead.ts'
import { addressOf, MINUTES_UNTIL_DEAD, signerOf, useRotation } from './rotation-world.ts'
import { insertPayments, newAddress, newKey, type Queued, queueAll, settingsOf, TOKEN } from './world.ts'

describe('a payout that is paid after it was voided', () => {
  /** A payout that was voided because no signature of it that is known is valid any more, and is paid by another one. */

  const rotation = useRotation()
  const { world, old } = rotation

  test('a payout that is paid after it was voided is reported to its payment, once, and stays voided; a repair leaves it so', async () => {
    await world.finalize(rotation.before(), 1)
    const [late] = await rotation.queueOn(old, [{}])
    const { paymentId } = late!
    await world.db.transaction((tx) => requestVoid(tx, paymentId))
    const runner = rotation.after()
    await runner.tick()
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(runner, 4)
    expect((await rotation.found(late!)).state).toBe('voided')

    // A backup has forgotten this signature, or somebody else has the key.
    const txHash = await rotation.carry(old, late!)
    await world.chain.mine({ blocks: 4 })
    await world.finalize(runner, 3)
    expect(await world.balance(late!.recipient)).toBe(late!.micro)
    const told = () => world.heard.settled.filter((settlement) => settlement.paymentId === paymentId)
    expect(told()).toEqual([expect.objectContaining({ txHash, microUsdc: late!.micro.toString() })])
    expect((await world.payout(paymentId)).state).toBe('voided')
    expect((await world.payout(paymentId)).proof?.txHash).toBe(txHash)

    const block = await world.chain.getTransactionReceipt({ hash: txHash })
    const depth = Number((await world.chain.getBlockNumber()) - block.blockNumber) + 2
    await world.chain.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
    await world.chain.mine({ blocks: 6 })
    const { db, hooks } = world
    await repairFinality({ db, hooks, settings: settingsOf(world), dryRun: false, say: () => undefined })
    expect(await world.payout(paymentId)).toMatchObject({ state: 'voided', proof: null })
  })
})

describe('a void and the other treasuries', () => {
  /** A refund needs that nobody can pay any more: neither the treasury of the payout nor an earlier one. */

  const rotation = useRotation()
  const { world, old, successor } = rotation

  test('a restored backup, a rotated treasury and a void: nothing is voided while the old transfer may still be mined', async () => {
    const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
    await insertPayments(world.db, [payment])
    const dump = await copyDatabase(world.db)
    await rotation.queueOn(old, [payment])
    await rotation.before().tick()
    const { rows } = await world.db.query(`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt`)
    await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
    const { db } = dump
    try {
      await queueAll({ db, treasury: successor }, [payment])
      const runner = rotation.after({ db })
      await world.finalize(runner)
      await db.transaction((tx) => requestVoid(tx, payment.paymentId))
      await world.finalize(runner, 4)
      expect((await readPayout(db, payment.paymentId))?.state).toBe('voiding')
      await world.chain.sendRawTransaction({ serializedTransaction: rows[0].raw })
      await world.finalize(runner, 4)
      await rotation.pass(MINUTES_UNTIL_DEAD, db)
      await world.finalize(runner, 3)
      expect(await world.balance(payment.recipient)).toBe(payment.micro)
      expect((await readPayout(db, payment.paymentId))?.state).toBe('voiding')
      expect(world.heard.voided).toEqual([])
    } finally {
      dump.giveBack()
    }
  })

  test('a payout that an earlier treasury has paid is never voided; another one is voided when that treasury can pay no more', async () => {
    const [paid, dead] = await rotation.queueOn(successor, [{}, {}])
    await rotation.carry(old, paid!)
    await world.chain.mine({ blocks: 4 })
    await world.finalize(rotation.after())
    expect(await rotation.found(paid!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    await world.finalize(rotation.after(), 3)
    expect((await rotation.found(dead!)).state).toBe('voiding')
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(rotation.after(), 4)
    expect((await rotation.found(dead!)).state).toBe('voided')
    expect((await rotation.found(paid!)).state).toBe('voiding')
  })

  test('a payout whose key is lost and that a still earlier treasury has paid is not voided when its signatures end', async () => {
    const third = accountOf(newKey())
    const [paid, dead] = await rotation.queueOn(successor, [{}, {}])
    await world.finalize(rotation.after())
    const lost = {
      treasuries: [signerOf(third)],
      options: { retiredTreasuries: [addressOf(old), addressOf(successor)] },
    }
    await world.finalize(rotation.after(lost))
    for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    await rotation.carry(old, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(rotation.after(lost), 4)
    expect((await rotation.found(dead!)).state).toBe('voided')
    expect((await rotation.found(paid!)).state).toBe('voiding')
  })

  // a backup from before a take-over knows the payout at the treasury whose key is lost: the one after it has paid
  test('a payout that the current treasury has paid after a take-over that a backup has forgotten is not voided', async () => {
    const [paid, dead] = await rotation.queueOn(old, [{}, {}])
    await world.finalize(rotation.after())
    for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    await rotation.carry(successor, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(rotation.after(), 4)
    expect(await world.balance(paid!.recipient)).toBe(paid!.micro)
    expect((await rotation.found(dead!)).state).toBe('voided')
    expect((await rotation.found(paid!)).state).toBe('voiding')
  })

  test('what cannot be voided, because another treasury has paid it, is named to people until it is voiding no more', async () => {
    const named = async () =>
      (
        await world.db.query(
          `select kind, subject, detail from settlement_attention where kind <> 'unclaimed_transfer'`,
        )
      ).rows
    const [paid, dead] = await rotation.queueOn(old, [{}, {}])
    await world.finalize(rotation.after())
    for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    await rotation.carry(successor, paid!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    const runner = rotation.after()
    await world.finalize(runner, 4)
    const detail = `another treasury of the platform has paid or canceled this payment: ${addressOf(successor)}`
    expect(await named()).toEqual([{ kind: 'paid_elsewhere', subject: paid!.paymentId, detail }])
    world.clock.now = new Date(Date.now() + 3 * 60_000)
    await world.finalize(runner)
    expect(await named()).toHaveLength(1)
    // Whoever still has the old key.
    await rotation.carry(old, paid!, true)
    world.clock.now = new Date(Date.now() + 6 * 60_000)
    await world.finalize(runner, 4)
    world.clock.now = new Date(Date.now() + 9 * 60_000)
    await world.finalize(runner)
    expect((await rotation.found(paid!)).state).toBe('voided')
    expect(await named()).toEqual([])
  })

  test('a payout that the current treasury may still pay is not cancelled with an earlier key; one queued an hour ago is cancelled at once', async () => {
    const [pending, aged] = await rotation.queueOn(old, [{}, {}])
    await world.db.query(`update payout set created_at = created_at - interval '1 hour' where payment_id = $1`, [
      aged!.paymentId,
    ])
    const both = {
      treasuries: [signerOf(successor), signerOf(old)],
      options: { retiredTreasuries: [], maxInFlight: 0 },
    }
    await rotation.after(both).tick()
    for (const { paymentId } of [pending!, aged!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
    const runner = rotation.after({ ...both, options: { retiredTreasuries: [] } })
    await world.finalize(runner, 4)
    expect((await rotation.found(aged!)).state).toBe('voided')
    expect((await rotation.found(pending!)).state).toBe('voiding')
    await rotation.carry(successor, pending!)
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await world.finalize(runner, 4)
    expect(await world.balance(pending!.recipient)).toBe(pending!.micro)
    expect((await rotation.found(pending!)).state).toBe('voiding')
  })
})

describe('a void that waits', () => {
  /** A void that waits for a proof, forever if another treasury has paid, is in nobody's way and keeps nothing busy. */

  const rotation = useRotation()
  const { world, old, successor } = rotation

  const voidAll = async (payouts: readonly Queued[]): Promise<void> => {
    for (const { paymentId } of payouts) await world.db.transaction((tx) => requestVoid(tx, paymentId))
  }
  /** The oldest is the first one. */
  const inTheirOrder = (payouts: readonly Queued[]) =>
    world.db.query(
      `update payout p set created_at = now() - interval '1 second' * (2000 - o.place)
     from unnest($1::text[]) with ordinality o(id, place) where o.id = p.payment_id`,
      [payouts.map(({ paymentId }) => paymentId)],
    )
  const journal = () => {
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    return createSettlementJournal({ db: world.db, scope, hooks: world.hooks })
  }
  const rests = async (): Promise<(number | null)[]> => {
    const { rows } = await world.db.query(
      'select extract(epoch from rests_until - now())::float as rests from payout order by payment_id',
    )
    return (rows as { rests: number | null }[]).map((row) => row.rests)
  }

  // they filled the list of every round
  test('behind a hundred voids whose lost treasury may still pay, one that it cannot pay any more is voided', async () => {
    await rotation.before().tick()
    const payouts = await rotation.queueOn(
      old,
      Array.from({ length: 101 }, () => ({})),
    )
    await inTheirOrder(payouts)
    await voidAll(payouts)
    const last = payouts.at(-1)!
    await world.db.query(`update payout set updated_at = now() - interval '2 hours' where payment_id = $1`, [
      last.paymentId,
    ])
    await world.finalize(rotation.after(), 4)
    expect((await rotation.found(last)).state).toBe('voided')
    expect(world.heard.voided).toHaveLength(1)
  })

  test('behind 800 voids that the treasury before may still pay, one that it cannot pay is cancelled', async () => {
    await rotation.before().tick()
    await rotation.after().tick()
    const payouts = await rotation.queueOn(
      successor,
      Array.from({ length: 801 }, () => ({})),
    )
    await inTheirOrder(payouts)
    await voidAll(payouts)
    const last = payouts.at(-1)!
    await rotation.carry(old, last, true)
    await world.finalize(rotation.after(), 5)
    expect((await rotation.found(last)).state).toBe('voided')
    expect(world.heard.voided).toHaveLength(1)
  })

  test.each(['the treasury before', 'a treasury whose key is lost'])(
    'while voids wait for %s alone there is nothing to do; each is looked at again within a minute, and voided when it may be',
    async (who) => {
      await rotation.before().tick()
      await rotation.after().tick()
      const payouts = await rotation.queueOn(who === 'the treasury before' ? successor : old, [{}, {}])
      await voidAll(payouts)
      expect(await readWork(journal())).toMatchObject({ underWay: true })
      await world.finalize(rotation.after(), 2)
      expect(await readWork(journal())).toEqual({ sign: false, send: false, voiding: false, underWay: false })
      for (const seconds of await rests()) expect(seconds).toBeLessThanOrEqual(60)
      await rotation.pass(1)
      expect(await readWork(journal())).toEqual({ sign: true, send: false, voiding: true, underWay: true })
      await world.finalize(rotation.after(), 2)
      expect(await readWork(journal())).toEqual({ sign: false, send: false, voiding: false, underWay: false })
      await rotation.pass(MINUTES_UNTIL_DEAD)
      await world.finalize(rotation.after(), 4)
      for (const payout of payouts) expect((await rotation.found(payout)).state).toBe('voided')
    },
  )

  test('a void that nobody else can have paid does not rest', async () => {
    const runner = rotation.before()
    await runner.tick()
    const payouts = await rotation.queueOn(old, [{}])
    await voidAll(payouts)
    await world.finalize(runner, 3)
    expect((await rotation.found(payouts[0]!)).state).toBe('voided')
    expect(await rests()).toEqual([null])
  })

  test('a void whose record refuses the proof is tried once a minute, and holds up no other', async () => {
    await rotation.before().tick()
    const payouts = await rotation.queueOn(old, [{}, {}])
    await voidAll(payouts)
    await world.db.query(`update payout set updated_at = now() - interval '2 hours'`)
    const refused = payouts[0]!.paymentId
    let asked = 0
    const hooks = {
      onVoided: async (_tx: unknown, { paymentId }: { paymentId: string }) => {
        if (paymentId !== refused) return
        asked += 1
        throw new Error('the record refuses')
      },
    }
    const runner = rotation.after({ hooks })
    await world.finalize(runner, 4)
    expect((await rotation.found(payouts[1]!)).state).toBe('voided')
    expect(asked).toBe(1)
    await rotation.pass(1)
    await world.finalize(runner, 2)
    expect(asked).toBe(2)
  })

  // it stayed voiding forever, and nobody was notified
  test('a payout above the limit of the policy is voided: a cancellation moves no money', async () => {
    const signer = createTreasurySigner(old, { livemode: false, token: TOKEN, maxMicroPerPayout: 5_000_000n })
    const runner = rotation.before({ treasuries: [signer] })
    const [large] = await rotation.queueOn(old, [{ micro: 50_000_000n }])
    await world.finalize(runner, 2)
    expect(await rotation.found(large!)).toMatchObject({ state: 'held', holdReason: 'policy' })
    await voidAll([large!])
    await world.finalize(runner, 4)
    expect((await rotation.found(large!)).state).toBe('voided')
  })

  // they were the first of every round, and filled the first stretch that is signed
  test('voids of a treasury whose key refuses hold up none of another one, rest, and are reported after two hours', async () => {
    await rotation.before().tick()
    const refuse = (): Promise<never> => Promise.reject(new Error('the key is disabled'))
    const refusing = { address: addressOf(old), signTransfer: refuse, signCancellation: refuse }
    const runner = rotation.after({ treasuries: [signerOf(successor), refusing], options: { retiredTreasuries: [] } })
    await runner.tick()
    const refused = await rotation.queueOn(
      old,
      Array.from({ length: 25 }, () => ({})),
    )
    await world.db.query(`update payout set created_at = now() - interval '2 hours'`)
    const [other] = await rotation.queueOn(successor, [{}])
    await voidAll([...refused, other!])
    await rotation.pass(MINUTES_UNTIL_DEAD)
    for (let round = 0; round < 4; round++) {
      await runner.tick()
      await world.chain.mine({ blocks: 3 })
    }
    expect((await rotation.found(other!)).state).toBe('voided')
    expect(await readWork(journal())).toMatchObject({ sign: false })

    expect(await listSettlementAttention(world.db)).toEqual([])
    await world.db.query(`update payout set updated_at = now() - interval '121 minutes' where state = 'voiding'`)
    const told = await listSettlementAttention(world.db)
    expect(told).toHaveLength(refused.length)
    expect(told[0]).toMatchObject({
      kind: 'void',
      detail: expect.stringContaining(`of ${addressOf(old)} are to be voided`),
    })
  })
})
