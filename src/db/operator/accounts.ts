import { z } from 'zod'
import { MERCHANT_STATUSES, type MerchantStatus } from '../../domain/account/agreement.ts'
import { many, maybeOne, type Queryable, sql, type Tenant } from '../db.ts'
import { containing } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

const merchantRow = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(MERCHANT_STATUSES),
  created_at: time,
  payments: z.coerce.number(),
  keys: z.coerce.number(),
  wallet: z.string().nullable(),
})
export type MerchantLine = z.output<typeof merchantRow>

/** Lists merchants, newest first, with their rows in this mode. `text`: a part of the name or the id. A status of null: any. */
export function listMerchants(
  db: Queryable,
  { text, status, limit }: { text: string | undefined; status: MerchantStatus | null; limit: number },
): Promise<MerchantLine[]> {
  const pattern = containing(text ?? '')
  return many(
    db,
    merchantRow,
    sql`select id, name, agreement.status, created_at,
          (select count(*) from payment where merchant_id = merchant.id and livemode = ${db.livemode}) as payments,
          (select count(*) from api_key where merchant_id = merchant.id and livemode = ${db.livemode}
            and revoked_at is null and (expires_at is null or expires_at > now())) as keys,
          (select case when next_at <= now() then next_address else address end from wallet
            where merchant_id = merchant.id and livemode = ${db.livemode}) as wallet
        from merchant join agreement on merchant_id = merchant.id
        where (name ilike ${pattern} or id ilike ${pattern}) and (${status}::text is null or agreement.status = ${status})
        order by created_at desc, id desc limit ${limit}`,
  )
}

const merchantNameRow = z.object({ id: z.string(), name: z.string() })

export function findMerchant(db: Queryable, id: string): Promise<{ id: string; name: string } | null> {
  return maybeOne(db, merchantNameRow, sql`select id, name from merchant where id = ${id}`)
}

const ownerRow = z.object({ merchant_id: z.string() })

/** Null also for an endpoint of the other mode. */
export async function findEndpointOwner(db: Queryable, id: string): Promise<Tenant | null> {
  const row = await maybeOne(
    db,
    ownerRow,
    sql`select merchant_id from webhook_endpoint where id = ${id} and livemode = ${db.livemode}`,
  )
  return row === null ? null : { merchantId: row.merchant_id, livemode: db.livemode }
}

const failingRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  url: z.string(),
  disabled_at: time.nullable(),
  disabled_reason: z.string().nullable(),
  failing_since: time.nullable(),
  waiting: z.coerce.number(),
})
export type FailingEndpoint = z.output<typeof failingRow>

/** Endpoints that accept nothing now, with the number of their open or failed deliveries. The oldest failure first. */
export function listFailingEndpoints(db: Queryable, limit: number): Promise<FailingEndpoint[]> {
  return many(
    db,
    failingRow,
    sql`select id, merchant_id, url, disabled_at, disabled_reason, failing_since,
          (select count(*) from delivery where endpoint_id = webhook_endpoint.id and status <> 'delivered') as waiting
        from webhook_endpoint
        where livemode = ${db.livemode} and (failing_since is not null or disabled_at is not null)
        order by coalesce(failing_since, disabled_at), id limit ${limit}`,
  )
}
