import { z } from 'zod'
import { execute, maybeOne, type Queryable, sql } from './db.ts'
import type { Tenant } from './payments.ts'

const keyRow = z
  .object({
    id: z.string(),
    merchant_id: z.string(),
    livemode: z.boolean(),
    digest: z.instanceof(Uint8Array),
    scopes: z.array(z.string()),
    expires_at: z.date().nullable(),
    revoked_at: z.date().nullable(),
  })
  .transform((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    livemode: row.livemode,
    digest: row.digest,
    scopes: row.scopes,
    expiresAt: row.expires_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
  }))

export type StoredApiKey = z.infer<typeof keyRow>

/** By the public part of the key; whether it may be used is decided by the caller. */
export function findApiKey(db: Queryable, id: string): Promise<StoredApiKey | null> {
  return maybeOne(
    db,
    keyRow,
    sql`select id, merchant_id, livemode, digest, scopes, expires_at, revoked_at from api_key where id = ${id}`,
  )
}

export type NewApiKey = {
  readonly id: string
  readonly name: string
  readonly digest: Uint8Array
  readonly last4: string
  readonly scopes: readonly string[]
}

export async function insertApiKey(db: Queryable, tenant: Tenant, key: NewApiKey): Promise<void> {
  await execute(
    db,
    sql`insert into api_key (id, merchant_id, livemode, name, digest, last4, scopes)
        values (${key.id}, ${tenant.merchantId}, ${tenant.livemode}, ${key.name}, ${key.digest}, ${key.last4}, ${key.scopes})`,
  )
}
