import { newPayment } from '../../../scripts/test/new-payment.ts'
import type { Db, Tenant } from '../../../src/db/db.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import { insertRefund } from '../../../src/db/refunds/refunds.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { newId } from '../../../src/ids.ts'
import type { RefundWorkflows } from '../../../src/temporal/refunds.ts'

/** A settled payment of 49.99 EUR with a refund of 10.00 EUR, as the worker records them. */
export async function plantRefund(
  db: Db,
  tenant: Tenant,
  { destination }: { readonly destination: Hex } = { destination: `0x${'7'.repeat(40)}` },
): Promise<{ settled: string; refund: string }> {
  const [settled, attempt, refund] = [newId('payment'), newId('attempt'), newId('refund')]
  const now = Date.now()
  const [createdAt, expiresAt] = [new Date(now).toISOString(), new Date(now + 365 * 86_400_000).toISOString()]
  const payment = newPayment({ id: settled, createdAt, destination })
  await insertPayment(db, tenant, { payment, claim: null, publicUrl: 'https://pay.example' })
  await db.query(
    `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
     values ($1, $2, 'wallet_app', 'banking_app', 'paid', 4999, 'EUR', 4999, now(), now())`,
    [attempt, settled],
  )
  await db.query(
    `update payment set payout = 'paid', status = 'succeeded', provider_used = 'wallet_app', paid_attempt_id = $2,
       charge_currency = 'EUR', confirmed_minor = 4999, succeeded_at = now() where id = $1`,
    [settled, attempt],
  )
  await insertRefund(db, tenant, {
    id: refund,
    paymentId: settled,
    attemptId: attempt,
    amount: { minor: '1000', currency: 'EUR' },
    reason: null,
    metadata: null,
    fundFrom: 'wallet',
    paymentVersion: 1,
    request: null,
    rate: '1.08',
    rateSource: 'test',
    requiredMicro: '10800000',
    createdAt,
    expiresAt,
  })
  return { settled, refund }
}

/** As if a worker had made the address for the USDC. */
export async function openRefundAddress(db: Db, refund: string): Promise<void> {
  await db.query(
    `update refund set address = '0x5c1f9d1b7e0b2f6a8f3c7d4e5a6b7c8d9e0f1a2b', token_name = 'USD Coin',
       funding_nonce = $2, version = version + 1 where id = $1`,
    [refund, `0x${'7b'.repeat(32)}`],
  )
}

/** As if a worker carried out what refunds are asked for. */
export const refundWorkflows = (db: Db): RefundWorkflows => ({
  wake: async () => undefined,
  open: async () => undefined,
  fund: async (id) => {
    await db.query('update refund set signed_at = now() where id = $1', [id])
    return { status: 'awaiting_funds' }
  },
  cancel: async (id) => {
    await db.query(`update refund set status = 'canceled', due_at = null where id = $1`, [id])
    return { status: 'canceled' }
  },
})
