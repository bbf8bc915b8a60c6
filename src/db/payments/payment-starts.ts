import { z } from 'zod'
import type { Currency } from '../../domain/currencies.ts'
import type { ProviderName } from '../../domain/methods.ts'
import { many, type Queryable, type Statement, sql } from '../db.ts'
import { time } from './payment-rows.ts'

const startRow = z
  .object({
    id: z.string(),
    merchant_id: z.string(),
    amount_minor: z.string(),
    currency: z.custom<Currency>(),
    provider: z.custom<ProviderName>().nullable(),
    status: z.string(),
    expires_at: time,
  })
  .transform((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    amount: { minor: row.amount_minor, currency: row.currency },
    provider: row.provider,
    status: row.status,
    expiresAt: row.expires_at,
  }))

/** Payments of the other mode are left out. */
export async function readStarts(db: Queryable, ids: readonly string[]): Promise<z.infer<typeof startRow>[]> {
  return ids.length === 0 ? [] : many(db, startRow, selectStarts(db, ids))
}

export const readOpenStarts = (db: Queryable, ids: readonly string[]): Promise<z.infer<typeof startRow>[]> =>
  many(db, startRow, sql`${selectStarts(db, ids)} and closed_at is null`)

const selectStarts = (db: Queryable, ids: readonly string[]): Statement =>
  sql`select id, merchant_id, amount_minor, currency, provider, status, expires_at from payment
      where id = any(${ids}) and livemode = ${db.livemode}`
