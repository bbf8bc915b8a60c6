import { z } from 'zod'
import { execute, many, maybeOne, one, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

const keyRow = z
  .object({
    id: z.string(),
    merchant_id: z.string(),
    livemode: z.boolean(),
    name: z.string(),
    digest: z.instanceof(Uint8Array),
    last4: z.string(),
    scopes: z.array(z.string()),
    allowed_ips: z.array(z.string()).nullable(),
    created_at: time,
    last_used_at: time.nullable(),
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
  })
  .transform((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    livemode: row.livemode,
    name: row.name,
    digest: row.digest,
    last4: row.last4,
    scopes: row.scopes,
    allowedIps: row.allowed_ips,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }))

/** Times are ISO 8601. */
export type StoredApiKey = z.infer<typeof keyRow>

/** Even a key that has ended: the caller decides. Null also for one of the other mode. */
export function findApiKey(db: Queryable, id: string): Promise<StoredApiKey | null> {
  return maybeOne(db, keyRow, sql`select * from api_key where id = ${id} and livemode = ${db.livemode}`)
}

export type NewApiKey = {
  readonly id: string
  readonly name: string
  readonly digest: Uint8Array
  readonly last4: string
  readonly pepperId: string
  readonly scopes: readonly string[]
  /** Null: any address. */
  readonly allowedIps?: readonly string[] | null
  /** ISO 8601; null: until it is revoked. */
  readonly expiresAt?: string | null
}

export function insertApiKey(db: Queryable, tenant: Tenant, key: NewApiKey): Promise<StoredApiKey> {
  return one(
    db,
    keyRow,
    sql`insert into api_key (id, merchant_id, livemode, name, digest, pepper_id, last4, scopes, allowed_ips, expires_at)
        values (${key.id}, ${tenant.merchantId}, ${tenant.livemode}, ${key.name}, ${key.digest},
          ${key.pepperId}, ${key.last4},
          ${key.scopes}::text[], ${key.allowedIps ?? null}::text[], ${key.expiresAt ?? null}::timestamptz)
        returning *`,
  )
}

/** Newest first, including revoked keys. Null if a cursor is no key of the merchant. */
export async function listApiKeys(
  db: Queryable,
  tenant: Tenant,
  page: ListPage,
): Promise<{ rows: StoredApiKey[]; hasMore: boolean } | null> {
  const list = sql`from api_key where ${ownedBy(tenant)}`
  if (!(await hasCursors(db, page, { id: sql`id`, list }))) return null
  const of = (id: string) => sql`(select created_at, id from api_key where id = ${id})`
  const found = await many(db, keyRow, sql`select * ${list} ${pageClause({ column: sql`(created_at, id)`, of }, page)}`)
  return cutPage(found, page)
}

export function findOwnApiKey(db: Queryable, tenant: Tenant, id: string): Promise<StoredApiKey | null> {
  return maybeOne(db, keyRow, sql`select * from api_key where id = ${id} and ${ownedBy(tenant)}`)
}

const keyCountRow = z.object({ keys: z.coerce.number() })

export async function countActiveKeys(tx: Tx, tenant: Tenant, now: string): Promise<number> {
  const row = await one(
    tx,
    keyCountRow,
    sql`select count(*) as keys from api_key
        where ${ownedBy(tenant)} and revoked_at is null and (expires_at is null or expires_at > ${now}::timestamptz)`,
  )
  return row.keys
}

/** Ends the key at the time, or at its earlier expiry; null if the merchant has no such key in use. */
export function expireApiKey(tx: Tx, tenant: Tenant, end: { id: string; at: string }): Promise<StoredApiKey | null> {
  return maybeOne(
    tx,
    keyRow,
    sql`update api_key set expires_at = least(expires_at, ${end.at}::timestamptz)
        where id = ${end.id} and revoked_at is null and ${ownedBy(tenant)} returning *`,
  )
}

/** A second time changes nothing. Null if the merchant has no such key. */
export function revokeApiKey(
  db: Queryable,
  tenant: Tenant,
  revoked: { id: string; at: string },
): Promise<StoredApiKey | null> {
  return maybeOne(
    db,
    keyRow,
    sql`update api_key set revoked_at = coalesce(revoked_at, ${revoked.at}::timestamptz)
        where id = ${revoked.id} and ${ownedBy(tenant)} returning *`,
  )
}

export type NewDigest = {
  readonly id: string
  /** The stored digest: a key that has received another digest since is not changed. */
  readonly from: Uint8Array
  readonly digest: Uint8Array
  readonly pepperId: string
}

/** Replaces digests by a retired pepper with digests by the current one. */
export async function storeDigests(db: Queryable, digests: readonly NewDigest[]): Promise<void> {
  for (const { id, from, digest, pepperId } of digests)
    await execute(
      db,
      sql`update api_key set digest = ${digest}, pepper_id = ${pepperId} where id = ${id} and digest = ${from}`,
    )
}

export async function touchApiKeys(db: Queryable, ids: readonly string[]): Promise<void> {
  await execute(db, sql`update api_key set last_used_at = now() where id = any(${ids}::text[])`)
}

function ownedBy(tenant: Tenant) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
}
