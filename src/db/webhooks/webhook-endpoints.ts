import { z } from 'zod'
import { WEBHOOK_FORMATS, type WebhookFormat } from '../../domain/webhook.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tenant } from '../db.ts'

/** Encrypted; `expires_at` is set on the older one while a secret is being rotated. */
export const sealedSecretRow = z.object({ sealed: z.string(), expires_at: z.iso.datetime().nullable() })

const endpointRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  livemode: z.boolean(),
  url: z.string(),
  description: z.string().nullable(),
  format: z.enum(WEBHOOK_FORMATS),
  enabled_events: z.array(z.string()),
  secrets: z.array(sealedSecretRow).min(1).max(2),
  disabled_at: z.date().nullable(),
  disabled_reason: z.enum(['merchant', 'gone', 'failing']).nullable(),
  failing_since: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type WebhookEndpoint = z.infer<typeof endpointRow>

export type NewWebhookEndpoint = {
  readonly id: string
  readonly url: string
  readonly description: string | null
  /** By default `standard`. */
  readonly format?: WebhookFormat
  readonly enabledEvents: readonly string[]
  readonly sealedSecret: string
}

export function insertEndpoint(db: Queryable, tenant: Tenant, endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint> {
  const secrets = JSON.stringify([{ sealed: endpoint.sealedSecret, expires_at: null }])
  return one(
    db,
    endpointRow,
    sql`insert into webhook_endpoint (id, merchant_id, livemode, url, description, format, enabled_events, secrets)
      values (${endpoint.id}, ${tenant.merchantId}, ${tenant.livemode}, ${endpoint.url}, ${endpoint.description},
        ${endpoint.format ?? 'standard'}, ${endpoint.enabledEvents}::text[], ${secrets}::jsonb)
      returning *`,
  )
}

export function findEndpoint(db: Queryable, tenant: Tenant, id: string): Promise<WebhookEndpoint | null> {
  return maybeOne(db, endpointRow, sql`select * from webhook_endpoint where id = ${id} and ${ownedBy(tenant)}`)
}

const otherSecretRow = z.object({ id: z.string(), url: z.string(), sealed: z.string() })

/** Reads those that sign by the rules of Standard Webhooks. */
export function readOtherSecrets(
  db: Queryable,
  { endpointId, merchantId }: { readonly endpointId: string; readonly merchantId: string },
): Promise<z.output<typeof otherSecretRow>[]> {
  return many(
    db,
    otherSecretRow,
    sql`select id, url, secrets -> 0 ->> 'sealed' as sealed from webhook_endpoint
      where merchant_id = ${merchantId} and livemode = ${db.livemode} and id <> ${endpointId}
        and format = 'standard' order by id`,
  )
}

/** For any merchant, as the owner of the tables. */
export function readEndpoints(db: Queryable, ids: readonly string[]): Promise<WebhookEndpoint[]> {
  return many(db, endpointRow, sql`select * from webhook_endpoint where id = any(${ids}::text[]) order by id`)
}

export function listEndpoints(db: Queryable, tenant: Tenant): Promise<WebhookEndpoint[]> {
  return many(db, endpointRow, sql`select * from webhook_endpoint where ${ownedBy(tenant)} order by id`)
}

export type EndpointChanges = {
  readonly url?: string
  readonly description?: string | null
  readonly enabledEvents?: readonly string[]
  /** Enabling an endpoint clears its failures; its disabled deliveries wait for a redelivery. */
  readonly enabled?: boolean
  /** Replaces the secrets immediately. */
  readonly sealedSecret?: string
}

export function updateEndpoint(
  db: Queryable,
  tenant: Tenant,
  { id, changes }: { id: string; changes: EndpointChanges },
): Promise<WebhookEndpoint | null> {
  const { url, description, enabledEvents, enabled, sealedSecret } = changes
  const set = [
    sql`updated_at = now()`,
    ...(url === undefined ? [] : [sql`, url = ${url}`]),
    ...(description === undefined ? [] : [sql`, description = ${description}`]),
    ...(enabledEvents === undefined ? [] : [sql`, enabled_events = ${enabledEvents}::text[]`]),
    ...(sealedSecret === undefined
      ? []
      : [sql`, secrets = ${JSON.stringify([{ sealed: sealedSecret, expires_at: null }])}::jsonb`]),
    ...(enabled === true ? [sql`, disabled_at = null, disabled_reason = null, failing_since = null`] : []),
    ...(enabled === false ? [sql`, disabled_at = coalesce(disabled_at, now()), disabled_reason = 'merchant'`] : []),
  ].reduce((left, right) => sql`${left}${right}`)
  return maybeOne(
    db,
    endpointRow,
    sql`update webhook_endpoint set ${set} where id = ${id} and ${ownedBy(tenant)} returning *`,
  )
}

export type Rotation = {
  readonly id: string
  readonly sealedSecret: string
  /** Until when the present secret signs, too; null ends it immediately. ISO 8601 UTC. */
  readonly previousExpiresAt: string | null
}

/** The new secret signs first; of the older ones only the newest is stored, so there are at most two. */
export function rotateSecret(db: Queryable, tenant: Tenant, rotation: Rotation): Promise<WebhookEndpoint | null> {
  const newest = JSON.stringify([{ sealed: rotation.sealedSecret, expires_at: null }])
  const { previousExpiresAt } = rotation
  return maybeOne(
    db,
    endpointRow,
    sql`update webhook_endpoint set updated_at = now(), secrets = ${newest}::jsonb || case
        when ${previousExpiresAt}::text is null then '[]'::jsonb
        else jsonb_build_array(secrets -> 0 || jsonb_build_object('expires_at', ${previousExpiresAt}::text)) end
      where id = ${rotation.id} and ${ownedBy(tenant)}
      returning *`,
  )
}

/** One statement with this many takes some tenths of a second. */
const DELIVERIES_AT_ONCE = 10_000

/**
 * Deletes the endpoint and its deliveries. False if the merchant has no such endpoint. The deliveries are deleted
 * first: a transaction that records an event waits for the lock of a deleted endpoint, and hundreds of thousands of
 * deliveries exceed the time limit of a statement.
 */
export async function deleteEndpoint(db: Queryable, tenant: Tenant, id: string): Promise<boolean> {
  for (let after: string | null = ''; after !== null; ) after = await deleteDeliveries(db, tenant, { id, after })
  return (await execute(db, sql`delete from webhook_endpoint where id = ${id} and ${ownedBy(tenant)}`)) > 0
}

const deletedRow = z.object({ gone: z.coerce.number(), last: z.string().nullable() })

/** Deletes deliveries of later events, by id. Returns the last one; null: there were no more than these. */
async function deleteDeliveries(
  db: Queryable,
  tenant: Tenant,
  { id, after }: { id: string; after: string },
): Promise<string | null> {
  const { gone, last } = await one(
    db,
    deletedRow,
    sql`with
      -- In the order of the index: what is gone already is not looked at again.
      next as (select event_id from delivery where endpoint_id = ${id} and ${ownedBy(tenant)} and event_id > ${after}
        order by event_id limit ${DELIVERIES_AT_ONCE}),
      removed as (delete from delivery using next where endpoint_id = ${id} and delivery.event_id = next.event_id)
      select count(*) as gone, max(event_id) as last from next`,
  )
  return gone < DELIVERIES_AT_ONCE ? null : last
}

/** Deletes secrets that expired before this time (ISO 8601 UTC). Returns their number. */
export function purgeExpiredSecrets(db: Queryable, before: string): Promise<number> {
  return execute(
    db,
    sql`update webhook_endpoint set secrets = jsonb_build_array(secrets -> 0)
      where jsonb_array_length(secrets) > 1 and (secrets -> 1 ->> 'expires_at')::timestamptz <= ${before}::timestamptz`,
  )
}

function ownedBy(tenant: Tenant) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`
}
