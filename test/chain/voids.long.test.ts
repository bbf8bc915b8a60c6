import { describe, expect, test } from '@jest/globals'
import { createTreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { listSettlementAttention } from '../../src/db/settlement/observer/standing.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { repairFinality } from '../../src/operator/repair.ts'
import { createSettings, type Queued, TOKEN } from './fixture.ts'
import { readWork } from './lead.ts'
import { createSigner, lowerCaseAddress, MINUTES_UNTIL_DEAD, newPaymentId, useRotation } from './rotation-fixture.ts'

describe('a payout that is paid after it was voided', () => {
  /** A payout that was voided because no known signature of it is valid any more, and that another signature pays. */

  const rotation = useRotation()
  const { fixture, old } = rotation

  test('a payout that is paid after it was voided is reported to its payment, once, and stays voided; a repair leaves it so', async () => {
    await fixture.finalize(rotation.before(), 1)
    const [late] = await rotation.queueOn(old, [{}])
    const { paymentId } = late!
    await fixture.db.transaction((tx) => requestVoid(tx, paymentId))
    const runner = rotation.after()
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(runner, 4)
    expect((await rotation.found(late!)).state).toBe('voided')

    // A backup has forgotten this signature, or somebody else has the key.
    const txHash = await rotation.carry(old, late!)
    await fixture.chain.mine({ blocks: 4 })
    await fixture.finalize(runner, 3)
    expect(await fixture.balance(late!.recipient)).toBe(late!.micro)
    const received = () => fixture.hookCalls.settled.filter((settlement) => settlement.ownerId === paymentId)
    expect(received()).toEqual([expect.objectContaining({ txHash, microUsdc: late!.micro.toString() })])
    expect((await fixture.payout(paymentId)).state).toBe('voided')
    expect((await fixture.payout(paymentId)).proof?.txHash).toBe(txHash)

    const block = await fixture.chain.getTransactionReceipt({ hash: txHash })
    const depth = Number((await fixture.chain.getBlockNumber()) - block.blockNumber) + 2
    await fixture.chain.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
    await fixture.chain.mine({ blocks: 6 })
    const { db, hooks } = fixture
    await repairFinality({ db, hooks, settings: createSettings(fixture), dryRun: false, say: () => undefined })
    expect(await fixture.payout(paymentId)).toMatchObject({ state: 'voided', proof: null })
  })
})

describe('a void that waits', () => {
  /** A void that waits for a proof, forever if another treasury has paid, must not delay other work. */

  const rotation = useRotation()
  const { fixture, old, successor } = rotation

  const voidAll = async (payouts: readonly Queued[]): Promise<void> => {
    for (const { paymentId } of payouts) await fixture.db.transaction((tx) => requestVoid(tx, paymentId))
  }
  /** The oldest is the first one. */
  const inTheirOrder = (payouts: readonly Queued[]) =>
    fixture.db.query(
      `update payout p set created_at = now() - interval '1 second' * (2000 - o.place)
     from unnest($1::text[]) with ordinality o(id, place) where o.id = p.payment_id`,
      [payouts.map(({ paymentId }) => paymentId)],
    )
  const journal = () => {
    const scope = { livemode: false, chainId: TOKEN.chainId, token: TOKEN.address }
    return createSettlementJournal({ db: fixture.db, scope, hooks: fixture.hooks })
  }
  const rests = async (): Promise<(number | null)[]> => {
    const { rows } = await fixture.db.query(
      'select extract(epoch from rests_until - now())::float as rests from payout order by payment_id',
    )
    return (rows as { rests: number | null }[]).map((row) => row.rests)
  }

  // They filled the list of every round.
  test('a void that can be proved is done behind a hundred voids whose lost treasury may still pay', async () => {
    const payouts = await rotation.queueOn(
      old,
      Array.from({ length: 101 }, () => ({})),
    )
    await inTheirOrder(payouts)
    await rotation.before({ options: { maxInFlight: 0 } }).tick()
    await voidAll(payouts)
    const last = payouts.at(-1)!
    await fixture.db.query('update payout_signature set valid_before = 1 where owner_id = $1', [last.paymentId])
    await fixture.db.query(`update payout set updated_at = now() - interval '1 hour' where payment_id = $1`, [
      last.paymentId,
    ])
    await fixture.finalize(rotation.after(), 4)
    expect((await rotation.found(last)).state).toBe('voided')
    expect(fixture.hookCalls.voided).toHaveLength(1)
  })

  test('while voids wait for a lost treasury there is no work; each is checked within a minute, and voided when possible', async () => {
    const payouts = await rotation.queueOn(old, [{}, {}])
    await rotation.before({ options: { maxInFlight: 0 } }).tick()
    await voidAll(payouts)
    expect(await readWork(journal())).toMatchObject({ underWay: true })
    await fixture.finalize(rotation.after(), 2)
    expect(await readWork(journal())).toEqual({ sign: false, send: false, voiding: false, underWay: false })
    for (const seconds of await rests()) expect(seconds).toBeLessThanOrEqual(60)
    await rotation.pass(1)
    expect(await readWork(journal())).toEqual({ sign: false, send: false, voiding: true, underWay: true })
    await fixture.finalize(rotation.after(), 2)
    expect(await readWork(journal())).toEqual({ sign: false, send: false, voiding: false, underWay: false })
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(rotation.after(), 4)
    for (const payout of payouts) expect((await rotation.found(payout)).state).toBe('voided')
  })

  test('a void whose key is available does not rest', async () => {
    const runner = rotation.before()
    await runner.tick()
    const payouts = await rotation.queueOn(old, [{}])
    await voidAll(payouts)
    await fixture.finalize(runner, 3)
    expect((await rotation.found(payouts[0]!)).state).toBe('voided')
    expect(await rests()).toEqual([null])
  })

  test('a void whose record refuses the proof is tried once a minute, and delays no other', async () => {
    await rotation.before().tick()
    const payouts = await rotation.queueOn(old, [{}, {}])
    await voidAll(payouts)
    const refused = payouts[0]!.paymentId
    let asked = 0
    const hooks = {
      onVoided: async (_tx: unknown, { ownerId }: { ownerId: string }) => {
        if (ownerId !== refused) return
        asked += 1
        throw new Error('the record refuses')
      },
    }
    const runner = rotation.after({ hooks })
    await rotation.pass(MINUTES_UNTIL_DEAD)
    await fixture.finalize(runner, 4)
    expect((await rotation.found(payouts[1]!)).state).toBe('voided')
    expect(asked).toBe(1)
    await rotation.pass(1)
    await fixture.finalize(runner, 2)
    expect(asked).toBe(2)
  })

  // It stayed in the state `voiding` forever, and no operator was notified.
  test('a payout above the limit of the policy is voided: a cancellation moves no money', async () => {
    const signer = createTreasurySigner(old, { livemode: false, token: TOKEN, maxMicroPerPayout: 5_000_000n })
    const runner = rotation.before({ treasuries: [signer] })
    const [large] = await rotation.queueOn(old, [{ micro: 50_000_000n }])
    await fixture.finalize(runner, 2)
    expect(await rotation.found(large!)).toMatchObject({ state: 'stopped', stopReason: 'policy' })
    await voidAll([large!])
    await fixture.finalize(runner, 4)
    expect((await rotation.found(large!)).state).toBe('voided')
  })

  // They were the first of every round, and filled the first batch to sign.
  test('voids of a treasury whose key refuses delay none of another one, rest, and are reported after two hours', async () => {
    await rotation.before().tick()
    const refuse = (): Promise<never> => Promise.reject(new Error('the key is disabled'))
    const refusing = {
      address: lowerCaseAddress(old),
      whyRefused: () => null,
      signTransfer: refuse,
      signCancellation: refuse,
    }
    const runner = rotation.both({ treasuries: [createSigner(successor), refusing] })
    await runner.tick()
    const refused = await rotation.queueOn(
      old,
      Array.from({ length: 25 }, () => ({})),
    )
    await fixture.db.query(`update payout set created_at = now() - interval '2 hours'`)
    const [other] = await rotation.queueOn(successor, [{ paymentId: newPaymentId() }])
    await voidAll([...refused, other!])
    for (let round = 0; round < 4; round++) {
      await runner.tick()
      await fixture.chain.mine({ blocks: 3 })
    }
    expect((await rotation.found(other!)).state).toBe('voided')
    expect(await readWork(journal())).toMatchObject({ sign: false })

    expect(await listSettlementAttention(fixture.db)).toEqual([])
    await fixture.db.query(`update payout set updated_at = now() - interval '121 minutes' where state = 'voiding'`)
    const attention = await listSettlementAttention(fixture.db)
    expect(attention).toHaveLength(refused.length)
    expect(attention[0]).toMatchObject({
      kind: 'void',
      detail: expect.stringContaining(`of ${lowerCaseAddress(old)} are to be voided`),
    })
  })
})
