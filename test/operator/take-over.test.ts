import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { LocalAccount } from 'viem/accounts'
import { requestVoid } from '../../src/db/settlement/payouts.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Operation } from '../../src/operator/payouts.ts'
import { takeOverPayouts } from '../../src/operator/take-over.ts'
import { addressOf, createRotation, MINUTES_UNTIL_DEAD, type Rotation, signerOf } from '../chain/rotation-world.ts'
import { settingsOf, type World } from '../chain/world.ts'

/** Taking the payouts of a dead treasury over. */

let rotation: Rotation
let world: World
let old: LocalAccount
let successor: LocalAccount
// A world of its own for each test: a rotation concerns everything.
beforeEach(async () => {
  rotation = await createRotation()
  ;({ world, old, successor } = rotation)
})
afterEach(() => world.stop())

const operation = (said: string[], dryRun = false): Operation => ({
  db: world.db,
  settings: settingsOf(world),
  hooks: world.hooks,
  dryRun,
  say: (line) => void said.push(line),
})

test('a take-over moves each with its proof and pays it once; what was paid, held or voided stays so', async () => {
  const [pending, paid, kept, unwanted] = await rotation.queueOn(old, [{}, {}, {}, {}])
  // All are signed; one is carried by a lane that forgets it.
  await rotation.before().tick()
  const { rows: sent } = await world.db.query('select tx_hash as hash from lane_tx_attempt')
  for (const { hash } of sent as { hash: Hex }[]) await world.chain.dropTransaction({ hash })
  const [untouched] = await rotation.queueOn(old, [{}])
  await world.db.query(
    `update payout set state = 'held', hold_reason = 'operator', hold_detail = 'wait', lane_wallet = null, lane_nonce = null
     where payment_id = $1`,
    [kept!.paymentId],
  )
  await world.db.transaction((tx) => requestVoid(tx, unwanted!.paymentId))

  const runner = rotation.after()
  await world.finalize(runner)
  expect(await rotation.found(untouched!)).toMatchObject({ state: 'held', holdReason: 'policy' })
  const said: string[] = []
  expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(1)
  expect(said).toEqual([expect.stringContaining(`signatures of ${addressOf(old)} may be valid until`)])

  await rotation.carry(old, paid!)
  await rotation.pass(MINUTES_UNTIL_DEAD)
  await runner.tick()
  expect(await takeOverPayouts(operation(said, true), addressOf(old))).toBe(0)
  expect(said.at(-1)).toContain('would be queued')
  expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
  expect(said.at(-1)).toContain(`3 payouts of ${addressOf(old)} are queued on ${addressOf(successor)}`)
  expect(world.heard.released).toContain(untouched!.paymentId)
  await world.finalize(runner, 3)

  for (const payout of [pending!, untouched!, paid!]) {
    expect(await rotation.found(payout)).toMatchObject({ state: 'settled' })
    expect(await world.balance(payout.recipient)).toBe(payout.micro)
  }
  expect(await rotation.found(kept!)).toMatchObject({ state: 'held', holdReason: 'operator' })
  expect(await rotation.found(unwanted!)).toMatchObject({ state: 'voided' })
  for (const { recipient } of [kept!, unwanted!]) expect(await world.balance(recipient)).toBe(0n)
  expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
  expect(said.at(-1)).toContain('0 payouts')
  const { rows } = await world.db.query('select distinct block_time >= valid_before as proved from payout_takeover')
  expect(rows).toEqual([{ proved: true }])
})

test('a take-over is refused while an engine may have its key, and before any engine has started', async () => {
  await expect(takeOverPayouts(operation([]), addressOf(old))).rejects.toThrow('no treasury is current')
  const treasuries = [signerOf(successor), signerOf(old)]
  await rotation.after({ treasuries, options: { retiredTreasuries: [] } }).tick()
  await expect(takeOverPayouts(operation([]), addressOf(old))).rejects.toThrow('no treasury without a key')
  await expect(takeOverPayouts(operation([]), addressOf(successor))).rejects.toThrow('no treasury without a key')
})

test('a take-over keeps one of which a later signature is known, until that one is dead too', async () => {
  const [queued] = await rotation.queueOn(old, [{}])
  world.clock.now = new Date(Date.now() + 3 * 3_600_000)
  await rotation.before({ options: { maxInFlight: 0 } }).tick()
  const silent = rotation.after({ options: { maxInFlight: 0 } })
  await silent.tick()
  await rotation.pass(MINUTES_UNTIL_DEAD)
  await silent.tick()
  const said: string[] = []
  for (const dryRun of [true, false]) {
    expect(await takeOverPayouts(operation(said, dryRun), addressOf(old))).toBe(1)
    expect(said.at(-2)).toMatch(new RegExp(`^${queued!.paymentId} stays: a later signature of ${addressOf(old)} `))
    expect(said.at(-1)).toContain('1 stay')
  }
  await rotation.pass(3 * 60)
  await silent.tick()
  expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(0)
  await world.finalize(rotation.after(), 3)
  expect(await rotation.found(queued!)).toMatchObject({ state: 'settled' })
  expect(await world.balance(queued!.recipient)).toBe(queued!.micro)
})

test('a take-over leaves what the old treasury has paid on chain, also while the record of it fails', async () => {
  const [paid] = await rotation.queueOn(old, [{}])
  const onSettled = () => Promise.reject(new Error('the record refuses the proof'))
  const refusing = rotation.after({ hooks: { onSettled } })
  await refusing.tick()
  await rotation.carry(old, paid!)
  await rotation.pass(MINUTES_UNTIL_DEAD)
  await refusing.tick()
  expect((await world.payout(paid!.paymentId)).hookError).toContain('refuses')
  const said: string[] = []
  expect(await takeOverPayouts(operation(said), addressOf(old))).toBe(1)
  expect(said[0]).toContain(`${paid!.paymentId} stays: ${addressOf(old)} has paid or cancelled it`)
  await world.db.query('update payout set hook_retry_at = null')
  await world.finalize(rotation.after(), 3)
  expect(await rotation.found(paid!)).toMatchObject({ state: 'settled' })
  expect(await world.balance(paid!.recipient)).toBe(paid!.micro)
})

test('a take-over is the only way to another treasury: the database refuses a change without the proof', async () => {
  const [queued] = await rotation.queueOn(old, [{}])
  const change = world.db.query('update payout set treasury = $1 where payment_id = $2', [
    addressOf(successor),
    queued!.paymentId,
  ])
  await expect(change).rejects.toThrow('are fixed')
})
