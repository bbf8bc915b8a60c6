import { z } from 'zod'
import { CHANNEL_KINDS, NOTIFICATION_LANGUAGES } from '../../domain/notification/channel.ts'
import { execute, many, one, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

const channelRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  livemode: z.boolean(),
  kind: z.enum(CHANNEL_KINDS),
  name: z.string(),
  sealed: z.string(),
  person_id: z.string().nullable(),
  events: z.array(z.string()),
  language: z.enum(NOTIFICATION_LANGUAGES),
  quiet_from: z.number().nullable(),
  quiet_to: z.number().nullable(),
  quiet_zone: z.string().nullable(),
  broken_at: time.nullable(),
  broken_reason: z.string().nullable(),
  created_at: time,
  updated_at: time,
})
export type Channel = z.output<typeof channelRow>

export type Quiet = { readonly from: number; readonly to: number; readonly zone: string }

export type NewChannel = Pick<Channel, 'id' | 'kind' | 'name' | 'sealed' | 'person_id' | 'events' | 'language'> & {
  readonly quiet: Quiet | null
  /** ISO 8601. */
  readonly at: string
}

export function insertChannel(db: Queryable, tenant: Tenant, channel: NewChannel): Promise<Channel> {
  const { id, kind, name, sealed, person_id, events, language, quiet, at } = channel
  return one(
    db,
    channelRow,
    sql`insert into channel (id, merchant_id, livemode, kind, name, sealed, person_id, events, language, quiet_from,
          quiet_to, quiet_zone, created_at, updated_at)
        values (${id}, ${tenant.merchantId}, ${tenant.livemode}, ${kind}, ${name}, ${sealed}, ${person_id},
          ${events}::text[], ${language}, ${quiet?.from ?? null}, ${quiet?.to ?? null}, ${quiet?.zone ?? null},
          ${at}::timestamptz, ${at}::timestamptz)
        returning *`,
  )
}

/** Oldest first. */
export function listChannels(db: Queryable, tenant: Tenant): Promise<Channel[]> {
  return many(db, channelRow, sql`select * from channel where ${owned(tenant)} order by id`)
}

/** A person says that it works again: what waits goes out, also the message that was refused. */
export async function mendChannel(tx: Tx, tenant: Tenant, { id, at }: { id: string; at: string }): Promise<void> {
  const now = sql`${at}::timestamptz`
  await execute(
    tx,
    sql`update channel set broken_at = null, broken_reason = null, paused_until = null, swept_at = null
        where id = ${id} and ${owned(tenant)}`,
  )
  await execute(
    tx,
    sql`update notification set due_at = ${now} where channel_id = ${id} and message_id is null
          and merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
  await execute(
    tx,
    sql`update channel_message set next_at = ${now} where channel_id = ${id} and state in ('waiting', 'unknown')
          and merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode}`,
  )
}

/** False when the merchant has no such channel. What waits for it is told to nobody any more. */
export async function removeChannel(tx: Tx, tenant: Tenant, { id, at }: { id: string; at: string }): Promise<boolean> {
  const removed = await execute(
    tx,
    sql`update channel set removed_at = ${at}::timestamptz, sealed = '' where id = ${id} and ${owned(tenant)}`,
  )
  if (removed === 0) return false
  await execute(tx, sql`update notification set due_at = 'infinity' where channel_id = ${id} and message_id is null`)
  return true
}

function owned(tenant: Tenant) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} and removed_at is null`
}
