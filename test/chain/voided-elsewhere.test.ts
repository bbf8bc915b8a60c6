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
    await rotation.pass(MINUTES_UNTIL_DEAD)
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
