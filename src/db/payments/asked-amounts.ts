import { z } from 'zod'
import type { Money } from '../../domain/money.ts'
import { many, type Queryable, sql, type Tenant } from '../db.ts'
import { currency } from './payment-rows.ts'

const askedRow = z.object({ payment_id: z.string(), amount_minor: z.string(), currency })

/** Returns the sums that the paid attempts of these payments asked for. Payments without one are left out. */
export async function readAskedAmounts(
  db: Queryable,
  { merchantId, livemode }: Tenant,
  paymentIds: readonly string[],
): Promise<Map<string, Money>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await many(
    db,
    askedRow,
    sql`select payment_id, attempt.amount_minor, attempt.currency
        from payment join attempt on attempt.id = paid_attempt_id and payment_id = payment.id
        where payment.id = any(${paymentIds}::text[])
          and payment.merchant_id = ${merchantId} and payment.livemode = ${livemode}`,
  )
  return new Map(rows.map((row) => [row.payment_id, { minor: row.amount_minor, currency: row.currency }]))
}
