import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db } from '../../../src/db/db.ts'
import { insertMerchant } from '../../../src/db/merchants/merchants.ts'
import { newId } from '../../../src/ids.ts'
import type { System } from './system.ts'

/** A payment of another merchant, with money at a partner and an open sale: no story must change it. */
export async function openNeighbor(system: System, db: Db) {
  const tenant = { merchantId: newId('merchant'), livemode: false }
  await insertMerchant(db, { id: tenant.merchantId, name: 'Shop next door' })
  const paymentId = newId('payment')
  const attemptId = newId('attempt')
  const createdAt = new Date(Date.UTC(2027, 0, 1)).toISOString()
  const context = { publicUrl: 'http://127.0.0.1:9', now: () => Date.parse(createdAt) }
  const payment = newPayment({ id: paymentId, createdAt })
  const asked = payment.amount
  await system.insertPayment(db, tenant, { payment, claim: null, publicUrl: context.publicUrl })
  await system.changePayment(db, context, {
    id: paymentId,
    work: (work) => {
      work.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'banking_app', asked })
      const rate = { rate: '1.16', source: 'model', lockedAt: createdAt }
      work.setAttempt(attemptId, { status: 'paid', held: asked.minor, paidAt: createdAt, rate })
      work.because({ why: 'confirmed', data: {} })
    },
  })
  // No relay of a story handles it.
  await db.query('update payment set closed_at = now() where id = $1', [paymentId])
  const readRows = async (): Promise<string> => {
    const { rows } = await db.query(
      `select (select row_to_json(p) from payment p where id = $1)::text
         || coalesce((select json_agg(a order by id) from attempt a where payment_id = $1)::text, '')
         || coalesce((select json_agg(s order by number) from sale s where payment_id = $1)::text, '')
         || coalesce((select json_agg(e order by transaction_id, line) from ledger_entry e
              join ledger_transaction t on t.id = transaction_id where payment_id = $1)::text, '')
         || (select count(*) from event where merchant_id = $2) as rows`,
      [paymentId, tenant.merchantId],
    )
    return (rows[0] as { rows: string }).rows
  }
  const before = await readRows()
  return {
    /** Returns a description if a story has changed it. */
    check: async (): Promise<string[]> =>
      (await readRows()) === before ? [] : ['the payment of another merchant has changed'],
  }
}
