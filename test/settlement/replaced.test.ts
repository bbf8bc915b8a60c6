import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db } from '../../src/db/db.ts'
import { loadPayment } from '../../src/db/payments/payments.ts'
import { createSettlementJournal } from '../../src/db/settlement/journal.ts'
import { createMoneyWorld, type MoneyWorld } from '../activities/payment/money-world.ts'

let world: MoneyWorld
let db: Db
beforeAll(async () => {
  world = await createMoneyWorld()
  db = world.checkout.db
})
afterAll(() => world.close())

/** The final chain shows the payout as paid, in this block and transaction. */
async function prove(id: string, place: { block: number; txHash: string }): Promise<void> {
  await db.query(
    `insert into treasury_log (chain_id, tx_hash, log_index, token, treasury, kind, counterparty, micro_usdc, auth_nonce,
       block_number, block_hash, gas_share, finalized_at, known_as, applied_at)
     select chain_id, $3, 3, token, treasury, 'out', recipient, micro_usdc, auth_nonce, $2, $3, 700, now(), 'payout', now()
     from payout where payment_id = $1`,
    [id, place.block, place.txHash],
  )
  const { rows } = await db.query('select chain_id, token from payout where payment_id = $1', [id])
  const scope = { livemode: false, chainId: rows[0].chain_id, token: rows[0].token }
  const { ended, failed } = await createSettlementJournal({ db, scope, hooks: world.hooks }).applyProven(200)
  expect({ ended, failed }).toEqual({ ended: 1, failed: [] })
}

/** What `repair-finality` does when the block has left the chain. */
async function takeBack(id: string): Promise<void> {
  await db.query(
    `insert into finality_reversal (payment_id, tx_hash, log_index, block_hash)
     select payment_id, tx_hash, log_index, block_hash from treasury_log where payment_id = $1`,
    [id],
  )
  await db.query('delete from treasury_log where payment_id = $1', [id])
  await db.query(`update payout set state = 'queued' where payment_id = $1`, [id])
}

const hash = (digit: string): string => `0x${digit.repeat(64)}`

// the merchant was told a transaction that no chain has
test('a payment whose transfer is final in another block than before names the one that the chain has, and is booked once', async () => {
  const { id } = await world.settling()
  await prove(id, { block: 7, txHash: hash('a') })
  expect((await loadPayment(db, id)).payment.transfer).toMatchObject({ txHash: hash('a'), blockNumber: '7' })

  await takeBack(id)
  await prove(id, { block: 9, txHash: hash('b') })
  const { payment } = await loadPayment(db, id)
  expect(payment).toMatchObject({ status: 'succeeded', transfer: { txHash: hash('b'), blockNumber: '9' } })
  const { rows } = await db.query(
    `select (select count(*)::int from ledger_transaction where kind = 'settled' and payment_id = $1) as booked,
       (select count(*)::int from event where payment_id = $1 and type = 'payment.succeeded') as told,
       (select data->>'tx_hash' from timeline_entry where payment_id = $1 and kind = 'payment.transfer_replaced') as replaced`,
    [id],
  )
  expect(rows).toEqual([{ booked: 1, told: 1, replaced: hash('b') }])

  // The same proof once more says nothing new.
  const { version } = payment
  await takeBack(id)
  await prove(id, { block: 9, txHash: hash('b') })
  expect((await loadPayment(db, id)).payment.version).toBe(version)
})
