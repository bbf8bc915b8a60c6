import { z } from 'zod'
import { CHANNEL_KINDS, NOTIFICATION_LANGUAGES, type NotificationLanguage } from '../../domain/notification/channel.ts'
import { execute, many, maybeOne, one, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
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

export function findChannel(db: Queryable, tenant: Tenant, id: string): Promise<Channel | null> {
  return maybeOne(db, channelRow, sql`select * from channel where id = ${id} and ${owned(tenant)}`)
}

export function listChannels(db: Queryable, tenant: Tenant): Promise<Channel[]> {
  return many(db, channelRow, sql`select * from channel where ${owned(tenant)} order by id`)
}

/** That of the person's e-mail channel, else that of the account's first channel, else English. */
export async function readLanguage(
  tx: Tx,
  { merchantId, personId }: { merchantId: string; personId: string },
): Promise<NotificationLanguage> {
  const found = await maybeOne(
    tx,
    channelRow.pick({ language: true }),
    sql`select language from channel
        where merchant_id = ${merchantId} and livemode = ${tx.livemode} and removed_at is null
        order by (kind = 'email' and person_id is not distinct from ${personId}) desc, id limit 1`,
  )
  return found?.language ?? 'en'
}

export type ChannelChanges = {
  readonly name?: string
  readonly events?: readonly string[]
  readonly language?: string
  readonly quiet?: Quiet | null
  /** Another address of the same kind. It repairs the channel. */
  readonly sealed?: string
}

/** `at` is ISO 8601. */
export async function updateChannel(
  tx: Tx,
  tenant: Tenant,
  { id, changes, at }: { id: string; changes: ChannelChanges; at: string },
): Promise<Channel | null> {
  const { name, events, language, quiet, sealed } = changes
  const set = [
    sql`updated_at = ${at}::timestamptz`,
    ...(name === undefined ? [] : [sql`, name = ${name}`]),
    ...(events === undefined ? [] : [sql`, events = ${events}::text[]`]),
    ...(language === undefined ? [] : [sql`, language = ${language}`]),
    ...(sealed === undefined ? [] : [sql`, sealed = ${sealed}`]),
    ...(quiet === undefined
      ? []
      : [
          sql`, quiet_from = ${quiet?.from ?? null}, quiet_to = ${quiet?.to ?? null}, quiet_zone = ${quiet?.zone ?? null}`,
        ]),
  ].reduce((left, right) => sql`${left}${right}`)
  const changed = await maybeOne(
    tx,
    channelRow,
    sql`update channel set ${set} where id = ${id} and ${owned(tenant)} returning *`,
  )
  if (changed === null) return null
  if (sealed !== undefined) await mendChannel(tx, tenant, { id, at })
  // Notifications that quiet hours have delayed are checked again with the new ones.
  else if (quiet !== undefined)
    await execute(
      tx,
      sql`update notification set due_at = ${at}::timestamptz
          where channel_id = ${id} and message_id is null and due_at <> 'infinity'`,
    )
  return findChannel(tx, tenant, id)
}

/** Sends everything that waits, including the refused message, after a person reported that the channel works. */
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

/** Removes the channel, with the notifications that wait for it. False if the merchant has no such channel. */
export async function removeChannel(tx: Tx, tenant: Tenant, { id, at }: { id: string; at: string }): Promise<boolean> {
  const removed = await execute(
    tx,
    sql`update channel set removed_at = ${at}::timestamptz, sealed = '' where id = ${id} and ${owned(tenant)}`,
  )
  if (removed === 0) return false
  await execute(tx, sql`update notification set due_at = 'infinity' where channel_id = ${id} and message_id is null`)
  return true
}

const historyRow = z.object({
  id: z.string(),
  state: z.enum(['sending', 'sent', 'waiting', 'unknown', 'refused']),
  kind: z.enum(['single', 'digest', 'test']),
  count: z.number(),
  kinds: z.array(z.string()),
  unanswered: z.number(),
  failure: z.string().nullable(),
  created_at: time,
  sent_at: time.nullable(),
})
export type ChannelHistory = z.output<typeof historyRow>

export function listMessages(
  db: Queryable,
  { merchantId, livemode }: Tenant,
  { channelId, limit }: { channelId: string; limit: number },
): Promise<ChannelHistory[]> {
  return many(
    db,
    historyRow,
    sql`select * from channel_message
        where channel_id = ${channelId} and merchant_id = ${merchantId} and livemode = ${livemode}
        order by created_at desc, id desc limit ${limit}`,
  )
}

const waitingRow = z.object({ channel_id: z.string(), count: z.coerce.number() })

export async function countWaiting(
  db: Queryable,
  { merchantId, livemode }: Tenant,
): Promise<ReadonlyMap<string, number>> {
  const rows = await many(
    db,
    waitingRow,
    sql`select channel_id, count(*) from notification
        where merchant_id = ${merchantId} and livemode = ${livemode} and message_id is null
          and channel_id in (select id from channel where ${owned({ merchantId, livemode })})
        group by channel_id`,
  )
  return new Map(rows.map((row) => [row.channel_id, row.count]))
}

function owned(tenant: Tenant) {
  return sql`merchant_id = ${tenant.merchantId} and livemode = ${tenant.livemode} and removed_at is null`
}
