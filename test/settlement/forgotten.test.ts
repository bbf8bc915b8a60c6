import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Db } from '../../src/db/db.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { markRestored } from '../../src/db/settlement/watch/forgotten.ts'
import type { Hex } from '../../src/domain/hex.ts'
import type { Lease } from '../../src/domain/settlement/payout.ts'
import { payoutNonce } from '../../src/evm/payout-nonce.ts'
import { createMoneyWorld, type MoneyWorld } from '../activities/payment/money-world.ts'
import { perform } from '../activities/payment/world.ts'

/**
 * A backup is of a time before the payout of a payment was handed over. In the time that it has forgotten the payout was
 * signed and sent, and its transfer is final.
 */

let world: MoneyWorld
let db: Db
let journal: ReturnType<typeof createSettlementJournal>
let scope: { livemode: boolean; chainId: number; token: Hex }
let lease: Lease
let block = 100
beforeAll(async () => {
  world = await createMoneyWorld()
  db = world.checkout.db
  const { payment } = await world.state((await world.opened()).id)
  scope = { livemode: false, chainId: payment.chainId, token: payment.token.toLowerCase() as Hex }
  journal = createSettlementJournal({ db, scope, hooks: world.hooks })
  const start = { number: block, hash: hashOf(block) }
  lease = (await journal.leaseObserver({ owner: 'here', leaseMs: 600_000, start })) as Lease
})
afterAll(() => world.close())
beforeEach(() => db.query('update chain_cursor set restored_at = null'))

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

/** The observer reads the final transfer that this database knows nothing of. */
async function paidUnknown(id: string, micro: string): Promise<void> {
  const treasury = world.payouts.treasury
  const { payment } = await world.state(id)
  block += 1
  const log = {
    kind: 'out',
    treasury,
    txHash: hashOf(block),
    logIndex: 1,
    counterparty: payment.destination.toLowerCase() as Hex,
    microUsdc: micro,
    authNonce: payoutNonce({ ...scope, treasury, paymentId: id }),
    blockNumber: block,
    blockHash: hashOf(block),
    gasShare: null,
  } as const
  const scan = {
    logs: [log],
    ownTransactions: [],
    paid: [],
    treasuries: [treasury],
    at: new Date(),
    number: block,
    hash: hashOf(block),
  }
  expect(await journal.recordFinalized(lease, scan)).toEqual([])
}

/** A round of the observer a minute later: how many payouts were found, and how many have ended. */
async function observe(): Promise<{ found: number; ended: number }> {
  const found = await journal.queueForgotten()
  const { ended, failed } = await journal.applyProven(200)
  expect(failed).toEqual([])
  return { found, ended }
}

/** Of 100.00 EUR at 1.08, less the fee. */
const NET = '103140000'
const tx = (): Hex => hashOf(block)

describe('the merchant has the money', () => {
  test('so an operator gives none back; the payment goes on, and its payout is settled by that transfer', async () => {
    const { id } = await world.paid()
    await world.decide(id, 'hold')
    await paidUnknown(id, NET)
    expect(await observe()).toEqual({ found: 0, ended: 0 })
    await expect(world.refund(id)).rejects.toThrow(`the merchant has been paid for this payment by ${tx()}`)
    expect((await world.state(id)).intents).toEqual([])

    await world.decide(id, 'release')
    await world.convert(id)
    expect(await observe()).toEqual({ found: 0, ended: 0 })
    await expect(world.activities().transferUsdc(id)).rejects.toThrow()
    expect(await observe()).toEqual({ found: 0, ended: 1 })
    expect(await world.payment(id)).toMatchObject({ status: 'succeeded', transfer: { txHash: tx() } })
    expect(await world.attention(id)).toEqual([])
    await expect(world.refund(id)).rejects.toThrow('The payout exists and is not voided')
  })

  test('also where the payment was held after its conversion, and nothing was handed over here', async () => {
    const { id } = await world.paid()
    await world.convert(id)
    await world.decide(id, 'hold')
    await paidUnknown(id, NET)
    const refusal = `the merchant has been paid for this payment by ${tx()}`
    await expect(world.refund(id)).rejects.toThrow(refusal)
    await expect(world.decide(id, 'recordExternalRefund')).rejects.toThrow(refusal)
    expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'operator_hold' })
    expect(await observe()).toEqual({ found: 1, ended: 1 })
    expect((await world.payment(id)).transfer).toMatchObject({ txHash: tx() })
  })

  test('and the buyer too, where the partner took it back: an operator is told', async () => {
    const { id, attemptId } = await world.paid()
    await paidUnknown(id, NET)
    await world.act(attemptId, { action: 'reverse' })
    await world.read({ id, attemptId })
    expect((await world.payment(id)).status).toBe('pending')
    expect(await observe()).toEqual({ found: 0, ended: 0 })
    await perform(world.activities().closeUnpaid, { paymentId: id, as: 'expired' as const, expiresAt: 0 })
    expect(await observe()).toEqual({ found: 1, ended: 1 })
    expect(await world.attention(id)).toEqual([expect.stringContaining('unexpected_settlement')])
    expect((await world.payment(id)).transfer).toMatchObject({ txHash: tx() })
    expect(await observe()).toEqual({ found: 0, ended: 0 })
  })

  test('and the void of a payout that was never handed in here loses to it: a chargeback', async () => {
    const { id, attemptId } = await world.paid()
    await world.convert(id)
    await paidUnknown(id, NET)
    await world.act(attemptId, { action: 'reverse' })
    await world.read({ id, attemptId })
    expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'funds_reversed' })
    expect(await observe()).toEqual({ found: 1, ended: 1 })
    expect((await world.payment(id)).status).toBe('succeeded')
    expect(await world.attention(id)).toEqual([expect.stringContaining('chargeback')])
    const { rows } = await db.query('select kind, state from intent where payment_id = $1', [id])
    expect(rows).toEqual([{ kind: 'void', state: 'refused' }])
  })

  test('of a payment that had expired: when its money is read it is converted, and waits for no payout', async () => {
    const { id, attemptId } = await world.opened()
    await db.query(`update payment set status = 'expired' where id = $1`, [id])
    await paidUnknown(id, NET)
    expect(await observe()).toEqual({ found: 1, ended: 1 })
    expect(await world.attention(id)).toEqual([expect.stringContaining('unexpected_settlement')])
    await world.act(attemptId, { action: 'pay', receivedMinor: '10000' })
    await world.read({ id, attemptId })
    expect((await world.payment(id)).status).toBe('processing')
    await world.convert(id)
    await world.activities().transferUsdc(id)
    expect(await world.payment(id)).toMatchObject({ status: 'under_review', parkReason: 'unexpected_settlement' })
    await world.decide(id, 'approve')
    expect((await world.payment(id)).status).toBe('succeeded')
    expect(await world.books(id)).toEqual(await booksOfAnother())
  })
})

/** What the accounts hold after a payment of the same amounts that went its way. */
async function booksOfAnother(): Promise<string[]> {
  const { id } = await world.settling()
  await world.settle(id)
  return world.books(id)
}

describe('a database that was restored just now', () => {
  test('gives nothing back of a payment from before, until what may be on its way is dead', async () => {
    const { id } = await world.paid()
    await world.decide(id, 'hold')
    await markRestored(db, scope)
    await expect(world.refund(id)).rejects.toThrow('a payout of this payment may be on its way')
    expect((await world.state(id)).intents).toEqual([])
    const { restoredAt } = (await journal.readCursor()) as { restoredAt: number }
    await journal.endRestored(restoredAt - 1)
    await expect(world.refund(id)).rejects.toThrow('ask again after')
    await journal.endRestored(restoredAt)
    expect(await world.refund(id)).toMatchObject({ refunded: true })
  })

  test('gives back what is of a later payment', async () => {
    const { id } = await world.paid()
    await world.decide(id, 'hold')
    await markRestored(db, scope)
    await db.query(`update payment set created_at = now() + interval '11 minutes' where id = $1`, [id])
    expect(await world.refund(id)).toMatchObject({ refunded: true })
  })
})
