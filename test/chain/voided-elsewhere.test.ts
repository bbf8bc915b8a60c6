import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { accountOf } from '../../src/chain/keys/private-key.ts'
import { createDb } from '../../src/db/db.ts'
import { readPayout, requestVoid } from '../../src/db/settlement/payouts.ts'
import { newId } from '../../src/ids.ts'
import { addressOf, createRotation, MINUTES_UNTIL_DEAD, type Rotation, signerOf } from './rotation-world.ts'
import { copyDatabase, insertPayments, newAddress, newKey, queueAll, type World } from './world.ts'

/** A refund needs that nobody can pay any more: neither the treasury of the payout nor an earlier one. */

let rotation: Rotation
let world: World
let old: LocalAccount
let successor: LocalAccount
beforeEach(async () => {
  rotation = await createRotation()
  ;({ world, old, successor } = rotation)
})
afterEach(() => world.stop())

test('a restored backup, a rotated treasury and a void: nothing is voided while the old transfer may still be mined', async () => {
  const payment = { paymentId: newId('payment'), recipient: newAddress(), micro: 4000n }
  await insertPayments(world.db, [payment])
  const dump = await copyDatabase(world.databaseUrl)
  await rotation.queueOn(old, [payment])
  await rotation.before().tick()
  const { rows } = await world.db.query(`select '0x' || encode(raw, 'hex') as raw from lane_tx_attempt`)
  await world.chain.request({ method: 'anvil_dropAllTransactions' } as never)
  const db = createDb({ url: dump.url, livemode: false })
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
    await db.close()
    await dump.drop()
  }
})

test('of two payouts to be voided, the one that an earlier treasury has paid never is; the other one is when that treasury can pay no more', async () => {
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

test('nor is one voided by the end of its signatures, its key lost too, that a still earlier treasury has paid', async () => {
  const third = accountOf(newKey())
  const [paid, dead] = await rotation.queueOn(successor, [{}, {}])
  await world.finalize(rotation.after())
  const lost = { treasuries: [signerOf(third)], options: { retiredTreasuries: [addressOf(old), addressOf(successor)] } }
  await world.finalize(rotation.after(lost))
  for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
  await rotation.carry(old, paid!)
  await rotation.pass(MINUTES_UNTIL_DEAD)
  await world.finalize(rotation.after(lost), 4)
  expect((await rotation.found(dead!)).state).toBe('voided')
  expect((await rotation.found(paid!)).state).toBe('voiding')
})

// a backup from before a take-over knows the payout at the treasury whose key is lost: the one after it has paid
test('nor one that the current treasury has paid after a take-over that a restored backup has forgotten', async () => {
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
  const named = async () => (await world.db.query('select kind, subject, detail from settlement_attention')).rows
  const [paid, dead] = await rotation.queueOn(old, [{}, {}])
  await world.finalize(rotation.after())
  for (const { paymentId } of [paid!, dead!]) await world.db.transaction((tx) => requestVoid(tx, paymentId))
  await rotation.carry(successor, paid!)
  await rotation.pass(MINUTES_UNTIL_DEAD)
  const runner = rotation.after()
  await world.finalize(runner, 4)
  const detail = `another treasury of ours has paid or cancelled this payment: ${addressOf(successor)}`
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

test('nor is one cancelled with the key of an earlier treasury that the current one may still pay; one queued an hour ago is at once', async () => {
  const [pending, aged] = await rotation.queueOn(old, [{}, {}])
  await world.db.query(`update payout set created_at = created_at - interval '1 hour' where payment_id = $1`, [
    aged!.paymentId,
  ])
  const both = { treasuries: [signerOf(successor), signerOf(old)], options: { retiredTreasuries: [], maxInFlight: 0 } }
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
