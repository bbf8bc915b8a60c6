import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSettlementJournal } from '../../../src/db/settlement/journal.ts'
import { takeOver } from '../../../src/db/settlement/signing/takeover.ts'
import { changeOf, changePayout, type Operation } from '../../../src/operator/payouts.ts'
import { createMoneyWorld, type MoneyWorld } from './money-world.ts'
import { perform } from './world.ts'

/** A hold by an operator's decision, and the operator's command about its payout: neither is a way around the other. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())

function run(name: 'hold' | 'release' | 'void', id: string): Promise<number> {
  const told = { db: world.checkout.db, hooks: world.hooks, dryRun: false, say: () => undefined }
  const operation = told as unknown as Operation
  return changePayout(operation, id, changeOf(name, operation))
}

const payout = async (id: string) => {
  const { rows } = await world.checkout.db.query('select state from payout where payment_id = $1', [id])
  return (rows[0] as { state: string }).state
}

// the payout was queued, and paid, while the hold stood
test('the command does not release the payout of a payment that an operator holds', async () => {
  const { id } = await world.settling()
  await world.decide(id, 'hold')
  await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
  expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'operator_hold'])
  await world.decide(id, 'release')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
})

test('… nor where the command has held the payout before the operator held the payment', async () => {
  const { id } = await world.settling()
  expect(await run('hold', id)).toBe(0)
  expect((await world.payment(id)).parkReason).toBe('payout_held')
  await world.decide(id, 'hold')
  await expect(run('release', id)).rejects.toThrow('An operator holds the payment')
  expect(await payout(id)).toBe('held')
  // The hold is lifted by its decision, and the payout by another try.
  await world.decide(id, 'release')
  expect(await payout(id)).toBe('held')
  await world.decide(id, 'retry')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
})

// it was paid out although the partner had taken the money back, where the callback that says so was lost
test('the command sets no payout going that has waited for a decision: before that the partner is asked for the money', async () => {
  const { id, attemptId } = await world.settling()
  expect(await run('hold', id)).toBe(0)
  await world.act(attemptId, { action: 'reverse' })
  await expect(run('release', id)).rejects.toThrow(`pinrail payments decide ${id} retry`)
  expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'payout_held'])
  expect((await world.read({ id, attemptId })).payment.parkReason).toBe('funds_reversed')
  expect(await payout(id)).toBe('voiding')
})

/** The engine has proved that the payout, which was to be voided, can never be paid. */
async function proveVoid(id: string): Promise<void> {
  await world.checkout.db.query(
    `insert into void_proof (payment_id, block_number, block_hash, block_time, valid_before)
     values ($1, 1, '0x' || repeat('2', 64), 2, 1)`,
    [id],
  )
  await world.checkout.db.query(`update payout set state = 'voided' where payment_id = $1`, [id])
  await world.voided(id)
}

// it settled for ever: nothing of it was left to pay, and no decision and no command changed it
test('a payout that is released while it is being voided is not waited for: its payment stands before an operator', async () => {
  const { id } = await world.settling()
  await world.decide(id, 'hold')
  expect(await run('void', id)).toBe(0)
  await world.decide(id, 'release')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['voiding', 'processing'])
  await proveVoid(id)
  await perform(world.activities().transferUsdc, id)
  expect(await world.attention(id)).toEqual(['parked payout_voided'])
  expect(await world.refund(id)).toMatchObject({ refunded: true })
  expect((await world.payment(id)).status).toBe('refunded')
})

test('… nor one that is tried again when its void is already proved', async () => {
  const { id } = await world.settling()
  expect([await run('hold', id), await run('void', id)]).toEqual([0, 0])
  await proveVoid(id)
  await expect(world.decide(id, 'retry')).rejects.toThrow('The payout is void and can never be paid')
  expect(await world.attention(id)).toEqual(['parked payout_voided'])
})

/** The treasury's key is gone, so the engine holds its payout; later another treasury takes it over. */
async function takenOver(id: string, meanwhile: () => Promise<unknown>): Promise<string> {
  const { rows } = await world.checkout.db.query('select * from payout where payment_id = $1', [id])
  const { chain_id: chainId, token, treasury, auth_nonce: authNonce } = rows[0]
  const context = { db: world.checkout.db, scope: { livemode: false, chainId, token }, hooks: world.hooks }
  const detail = `no key for treasury ${treasury}`
  await createSettlementJournal(context).hold({ paymentId: id, reason: 'policy', detail })
  await meanwhile()
  const to = `0x${'9'.repeat(40)}` as const
  const proof = { number: 1, hash: `0x${'8'.repeat(64)}` as const, time: 2, dead: 1 }
  await takeOver(context, { payouts: [{ paymentId: id, treasury, authNonce }], to, proof })
  return to
}

// it was paid out although the partner had taken the money back
test('a take-over sets no payout going that has waited for a decision: before that the partner is asked for the money', async () => {
  const { id, attemptId } = await world.settling()
  await takenOver(id, () => world.act(attemptId, { action: 'reverse' }))
  expect([await payout(id), (await world.payment(id)).parkReason]).toEqual(['held', 'payout_held'])
  expect((await world.read({ id, attemptId })).payment.parkReason).toBe('funds_reversed')
  expect(await payout(id)).toBe('voiding')
})

test('… and where it is there, another try has the new treasury pay', async () => {
  const { id } = await world.settling()
  const to = await takenOver(id, async () => undefined)
  await world.decide(id, 'retry')
  expect([await payout(id), (await world.payment(id)).status]).toEqual(['queued', 'settling'])
  const { rows } = await world.checkout.db.query('select treasury from payout where payment_id = $1', [id])
  expect(rows).toEqual([{ treasury: to }])
})

// neither a refund nor a void was possible: there was no payout, and it was not void
test('a payment that is held between its conversion and its payout is refunded, and its USDC is ours', async () => {
  for (const outside of [false, true]) {
    const { id } = await world.paid()
    await world.convert(id)
    await world.decide(id, 'hold')
    if (outside) await world.decide(id, 'recordExternalRefund')
    else await world.refund(id)
    expect(await world.payment(id)).toMatchObject({ status: 'refunded', parkReason: null })
    expect(await world.checkout.timeline(id, 'payment.payout_never_made')).toHaveLength(1)
    expect((await world.books(id)).filter((line) => /payable|fee/.test(line))).toEqual([])
  }
})

test('… and not where its payout was handed in', async () => {
  const { id } = await world.settling()
  await world.decide(id, 'hold')
  await expect(world.refund(id)).rejects.toThrow('The payout exists and is not voided')
  expect(await payout(id)).toBe('held')
})
