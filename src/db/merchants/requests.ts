import { z } from 'zod'
import { execute, many, maybeOne, one, type Queryable, type Statement, sql, type Tenant } from '../db.ts'
import { cutPage, hasCursors, type ListPage, pageClause } from '../pages.ts'
import { time } from '../payments/payment-rows.ts'

/** Requests with the keys of an account, for the account's people. */

export type ApiRequest = {
  readonly id: string
  readonly merchantId: string
  readonly livemode: boolean
  readonly keyId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly code: string | null
  readonly sent: string | null
  readonly answered: string | null
  /** ISO 8601. */
  readonly at: string
}

/** Existing requests are not changed. */
export async function insertRequests(db: Queryable, requests: readonly ApiRequest[]): Promise<void> {
  await execute(
    db,
    sql`insert into api_request (id, merchant_id, livemode, key_id, method, path, status, duration_ms, code, sent,
          answered, at)
        select id, "merchantId", livemode, "keyId", method, path, status, "durationMs", code, sent, answered, at
        from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as made(id text, "merchantId" text, livemode boolean,
          "keyId" text, method text, path text, status int, "durationMs" int, code text, sent text, answered text,
          at timestamptz)
        on conflict (id) do nothing`,
  )
}

const listRow = z.object({
  id: z.string(),
  key_id: z.string(),
  /** Null: the key no longer exists. */
  key_name: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  status: z.number(),
  duration_ms: z.number(),
  code: z.string().nullable(),
  at: time,
})
export type ListedRequest = z.output<typeof listRow>

const wholeRow = listRow.extend({ sent: z.string().nullable(), answered: z.string().nullable() })
export type WholeRequest = z.output<typeof wholeRow>

export type RequestSearch = {
  readonly id?: string | undefined
  readonly path?: string | undefined
  /** The id or the whole name of a key. */
  readonly key?: string | undefined
  readonly errors?: boolean
}

const owned = (tenant: Tenant): Statement =>
  sql`api_request.merchant_id = ${tenant.merchantId} and api_request.livemode = ${tenant.livemode}`
const columns = sql`api_request.id, key_id, api_key.name as key_name, method, path, status, duration_ms, code, at`
const source = sql`api_request left join api_key on api_key.id = key_id`

/** Newest first. Null if a cursor is no request of the merchant. */
export async function listRequests(
  db: Queryable,
  tenant: Tenant,
  { search, page }: { search: RequestSearch; page: ListPage },
): Promise<{ rows: ListedRequest[]; hasMore: boolean } | null> {
  const { id, path, key, errors = false } = search
  const column = sql`api_request.id`
  if (!(await hasCursors(db, page, { id: column, list: sql`from api_request where ${owned(tenant)}` }))) return null
  const found = await many(
    db,
    listRow,
    sql`select ${columns} from ${source} where ${owned(tenant)}
        ${id === undefined ? sql`` : sql`and api_request.id = ${id}`}
        ${path === undefined ? sql`` : sql`and position(${path} in path) > 0`}
        ${key === undefined ? sql`` : sql`and (key_id = ${key} or api_key.name = ${key})`}
        ${errors ? sql`and status >= 400` : sql``}
        ${pageClause({ column, of: (cursor) => sql`${cursor}` }, page)}`,
  )
  return cutPage(found, page)
}

export function readRequest(db: Queryable, tenant: Tenant, id: string): Promise<WholeRequest | null> {
  return maybeOne(
    db,
    wholeRow,
    sql`select ${columns}, sent, answered from ${source} where ${owned(tenant)} and api_request.id = ${id}`,
  )
}

const requestCountRow = z.object({ requests: z.coerce.number() })

/** Up to `most`. */
export async function countErrors(db: Queryable, tenant: Tenant, most: number): Promise<number> {
  const row = await one(
    db,
    requestCountRow,
    sql`select count(*) as requests
        from (select from api_request where ${owned(tenant)} and status >= 400 limit ${most}) as counted`,
  )
  return row.requests
}
