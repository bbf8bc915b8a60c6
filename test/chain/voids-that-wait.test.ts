import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { createTreasurySigner } from '../../src/chain/authorization.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import { listSettlementAttention } from '../../src/db/settlement/watch/standing.ts'
import { addressOf, createRotation, MINUTES_UNTIL_DEAD, type Rotation, signerOf } from './rotation-world.ts'
import { type Queued, TOKEN, type World } from './world.ts'

/** A void that waits for a proof, for ever where another treasury has paid, is in nobody's way and keeps nothing busy. */

let rotation: Rotation
let world: World
let old: LocalAccount
let successor: LocalAccount
beforeEach(async () => {
  rotation = await createRotation()
  ;({ world, old, successor } = rotation)
})
afterEach(() => world.stop())

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
    expect(await journal().readWork()).toMatchObject({ underWay: true })
    await world.finalize(rotation.after(), 2)
    expect(await journal().readWork()).toEqual({ sign: false, send: false, underWay: false })
    expect(await journal().readDue()).toMatchObject({ voiding: false })
    for (const seconds of await rests()) expect(seconds).toBeLessThanOrEqual(60)
    await rotation.pass(1)
    expect(await journal().readWork()).toEqual({ sign: true, send: false, underWay: true })
    await world.finalize(rotation.after(), 2)
    expect(await journal().readWork()).toEqual({ sign: false, send: false, underWay: false })
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

test('one whose record refuses the proof is told of it once a minute, and holds up no other', async () => {
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

// it stayed voiding for ever, and nobody was told
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
test('voids of a treasury whose key refuses hold up none of another one, rest, and are told after two hours', async () => {
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
  expect(await journal().readWork()).toMatchObject({ sign: false })

  expect(await listSettlementAttention(world.db)).toEqual([])
  await world.db.query(`update payout set updated_at = now() - interval '121 minutes' where state = 'voiding'`)
  const told = await listSettlementAttention(world.db)
  expect(told).toHaveLength(refused.length)
  expect(told[0]).toMatchObject({
    kind: 'void',
    detail: expect.stringContaining(`of ${addressOf(old)} are to be voided`),
  })
})
