import { z } from 'zod'
import { maybeOne, type Queryable, sql, type Tenant } from '../db.ts'

/** The words that a merchant gives a payment. A field that is absent stays as it is; null removes it. */
export type PaymentWords = {
  readonly description?: string | null | undefined
  readonly reference?: string | null | undefined
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
}

const idRow = z.object({ id: z.string() })

/**
 * Returns false if the merchant has no such payment, or if its description would change after the buyer can have paid: the
 * buyer's receipt shows it. `at`: ISO 8601.
 */
export async function changePaymentWords(
  db: Queryable,
  tenant: Tenant,
  { id, words, at }: { readonly id: string; readonly words: PaymentWords; readonly at: string },
): Promise<boolean> {
  const { description, reference, metadata } = words
  const changed = await maybeOne(
    db,
    idRow,
    sql`update payment set version = version + 1, updated_at = ${at}
          ${description === undefined ? sql`` : sql`, description = ${description}`}
          ${reference === undefined ? sql`` : sql`, reference = ${reference}`}
          ${metadata === undefined ? sql`` : sql`, metadata = ${metadata === null ? null : JSON.stringify(metadata)}::jsonb`}
        where id = ${id} and merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}
          ${tenant.shopApi === undefined ? sql`` : sql`and shop_api = ${tenant.shopApi}`}
          ${description === undefined ? sql`` : sql`and (is_open(status) or description is not distinct from ${description}::text)`}
        returning id`,
  )
  return changed !== null
}
