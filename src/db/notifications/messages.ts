import { z } from 'zod'
import { CHANNEL_KINDS, NOTIFICATION_LANGUAGES } from '../../domain/notification/channel.ts'
import type { NotifiedFact } from '../../domain/notification/message.ts'
import type { Recent, Waiting } from '../../domain/notification/pace.ts'
import { execute, many, maybeOne, type Queryable, sql, type Tenant, type Tx } from '../db.ts'
import { time } from '../payments/payment-rows.ts'

/** Messages to channels, before and after they are sent. Times are ISO 8601. */

const ownedRow = z.object({
  id: z.string(),
  merchant_id: z.string(),
  merchant_name: z.string(),
  kind: z.enum(CHANNEL_KINDS),
  name: z.string(),
  sealed: z.string(),
  language: z.enum(NOTIFICATION_LANGUAGES),
  quiet_from: z.number().nullable(),
  quiet_to: z.number().nullable(),
  quiet_zone: z.string().nullable(),
  broken_at: time.nullable(),
  paused_until: time.nullable(),
  person_id: z.string().nullable(),
  /** The same person, while they belong to the account. */
  member_id: z.string().nullable(),
  email: z.string().nullable(),
})
export type LockedChannel = z.output<typeof ownedRow>

/** Locks the channel, so that messages to it are sent one after the other. Null if it was removed. */
export function lockChannel(tx: Tx, id: string): Promise<LockedChannel | null> {
  return maybeOne(
    tx,
    ownedRow,
    sql`select channel.*, merchant.name as merchant_name, membership.person_id as member_id, person.email
        from channel join merchant on merchant.id = channel.merchant_id
          left join membership on membership.merchant_id = channel.merchant_id
            and membership.person_id = channel.person_id
          left join person on person.id = membership.person_id
        where channel.id = ${id} and channel.livemode = ${tx.livemode} and removed_at is null
        for no key update of channel`,
  )
}

const messageRow = z.object({
  id: z.string(),
  state: z.enum(['sending', 'sent', 'waiting', 'unknown', 'refused']),
  kind: z.enum(['single', 'digest', 'test']),
  urgent: z.boolean(),
  tries: z.number(),
  unanswered: z.number(),
  next_at: z.union([z.date().transform((value) => value.getTime()), z.literal(Number.POSITIVE_INFINITY)]),
  created_at: time,
})
export type OpenMessage = z.output<typeof messageRow>

export function findOpenMessage(tx: Tx, channelId: string): Promise<OpenMessage | null> {
  return maybeOne(
    tx,
    messageRow,
    sql`select * from channel_message
        where channel_id = ${channelId} and state in ('sending', 'waiting', 'unknown')
        order by urgent desc, created_at, id limit 1`,
  )
}

const waitingRow = z.object({ id: z.string(), urgent: z.boolean(), delayed: z.boolean(), kind: z.string() })
const recentRow = z
  .object({ sent_at: z.date(), kind: z.string() })
  .transform(({ sent_at, kind }): Recent => ({ at: sent_at.getTime(), digest: kind === 'digest' }))

export type Queue = {
  readonly waiting: readonly (Waiting & { readonly kind: string })[]
  readonly recent: readonly Recent[]
}

export async function readQueue(
  tx: Tx,
  channelId: string,
  { now, limit }: { now: string; limit: number },
): Promise<Queue> {
  const waiting = await many(
    tx,
    waitingRow,
    sql`select id::text, urgent, delayed, kind from notification
        where channel_id = ${channelId} and message_id is null and due_at <= ${now}::timestamptz
        order by urgent desc, id limit ${limit}`,
  )
  const recent = await many(
    tx,
    recentRow,
    sql`select sent_at, kind from channel_message
        where channel_id = ${channelId} and state = 'sent' and kind <> 'test'
          and created_at > ${now}::timestamptz - interval '1 day' and sent_at > ${now}::timestamptz - interval '1 minute'`,
  )
  return { waiting, recent }
}

export type BegunMessage = {
  readonly id: string
  readonly channelId: string
  readonly tenant: Tenant
  readonly kind: 'single' | 'digest'
  readonly urgent: boolean
  readonly ids: readonly string[]
  readonly kinds: readonly string[]
  readonly now: string
  readonly mineUntil: string
}

export async function beginMessage(tx: Tx, begun: BegunMessage): Promise<void> {
  const { id, channelId, tenant, kind, urgent, ids, kinds, now, mineUntil } = begun
  await execute(
    tx,
    sql`with taken as (
          update notification set message_id = ${id} where id = any(${ids}::bigint[]) and message_id is null)
        insert into channel_message (id, channel_id, merchant_id, livemode, state, kind, urgent, count, kinds, next_at,
          created_at)
        values (${id}, ${channelId}, ${tenant.merchantId}, ${tenant.livemode}, 'sending', ${kind}, ${urgent},
          ${ids.length}, ${kinds}::text[], ${mineUntil}::timestamptz, ${now}::timestamptz)`,
  )
}

export async function insertTestMessage(
  db: Queryable,
  tenant: Tenant,
  { id, channelId, now }: { id: string; channelId: string; now: string },
): Promise<void> {
  await execute(
    db,
    sql`insert into channel_message (id, channel_id, merchant_id, livemode, state, kind, urgent, count, kinds, next_at,
          created_at)
        values (${id}, ${channelId}, ${tenant.merchantId}, ${tenant.livemode}, 'waiting', 'test', true, 0, '{}',
          ${now}::timestamptz, ${now}::timestamptz)`,
  )
}

/** Takes the message to send it again. An earlier try without an outcome might have reached the channel. */
export async function resumeMessage(tx: Tx, id: string, mineUntil: string): Promise<void> {
  await execute(
    tx,
    sql`update channel_message set state = 'sending', next_at = ${mineUntil}::timestamptz,
          unanswered = unanswered + case when state = 'sending' then 1 else 0 end
        where id = ${id}`,
  )
}

const factRow = z
  .object({ kind: z.string(), created_at: time, data: z.record(z.string(), z.unknown()).nullable() })
  .transform(({ kind, created_at: at, data }): NotifiedFact => ({ kind, at, data: data ?? {} }))

/** Reads the facts of the message, oldest first. A fact that is no longer stored has only its kind. */
export function readFacts(tx: Tx, messageId: string): Promise<NotifiedFact[]> {
  return many(
    tx,
    factRow,
    sql`select notification.kind, notification.created_at,
          coalesce(notice.data, convert_from(event.body, 'UTF8')::jsonb -> 'data' -> 'object') as data
        from notification left join event on event.id = event_id left join notice on notice.id = notice_id
        where message_id = ${messageId} order by notification.id`,
  )
}

export type Ending = {
  readonly id: string
  readonly state: 'sent' | 'waiting' | 'unknown' | 'refused'
  readonly failure: string | null
  /** ISO 8601, or `infinity`: when a person has repaired the channel. */
  readonly nextAt: string
  readonly now: string
}

/** Stores the result of the last try. It changes nothing if another sender has resumed the message. */
export async function endTry(tx: Tx, { id, state, failure, nextAt, now }: Ending): Promise<void> {
  await execute(
    tx,
    sql`update channel_message set state = ${state}, failure = ${failure}, tries = tries + 1,
          unanswered = unanswered + ${state === 'unknown' ? 1 : 0}, next_at = ${nextAt}::timestamptz,
          sent_at = case when ${state} = 'sent' then ${now}::timestamptz else sent_at end
        where id = ${id} and state = 'sending'`,
  )
}

export async function pauseChannel(tx: Tx, id: string, until: string): Promise<void> {
  await execute(tx, sql`update channel set paused_until = ${until}::timestamptz where id = ${id}`)
}

/** Marks the channel as broken: it receives nothing until a person repairs it. Its notifications keep waiting. */
export async function breakChannel(
  tx: Tx,
  id: string,
  { reason, now }: { reason: string; now: string },
): Promise<void> {
  await execute(
    tx,
    sql`with broken as (
          update channel set broken_at = ${now}::timestamptz, broken_reason = ${reason} where id = ${id}),
        messages as (
          update channel_message set next_at = 'infinity'
          where channel_id = ${id} and state in ('waiting', 'unknown'))
        update notification set due_at = 'infinity' where channel_id = ${id} and message_id is null`,
  )
}

export async function moveChat(tx: Tx, id: string, sealed: string): Promise<void> {
  await execute(tx, sql`update channel set sealed = ${sealed} where id = ${id}`)
}

export async function holdUntil(tx: Tx, channelId: string, until: string): Promise<void> {
  await execute(
    tx,
    sql`update notification set due_at = ${until}::timestamptz, delayed = true
        where channel_id = ${channelId} and message_id is null and not urgent and due_at < ${until}::timestamptz`,
  )
}

export async function holdMessage(tx: Tx, id: string, until: string): Promise<void> {
  await execute(tx, sql`update channel_message set next_at = ${until}::timestamptz where id = ${id}`)
}

/** Records that the channel's workflow ends: the next notification can start another one immediately. */
export async function restChannel(tx: Tx, channelId: string): Promise<void> {
  await execute(tx, sql`update channel set swept_at = null where id = ${channelId} and swept_at is not null`)
}

const idRow = z.object({ id: z.string() })

/**
 * Takes channels with work that is due, and marks them, so that the next round does not start a second workflow for
 * them. Rows of a channel that cannot be notified now take no place: channels of a service that is down, however many,
 * do not block the others.
 */
export async function takeDueChannels(
  db: Queryable,
  { now, againSeconds, limit }: { now: string; againSeconds: number; limit: number },
): Promise<string[]> {
  const at = sql`${now}::timestamptz`
  const isOpen = sql`message.state in ('sending', 'waiting', 'unknown')`
  const mayStart = sql`channel.livemode = ${db.livemode} and removed_at is null and broken_at is null
    and (paused_until is null or paused_until <= ${at})
    and (swept_at is null or swept_at <= ${at} - make_interval(secs => ${againSeconds}))`
  const rows = await many(
    db,
    idRow,
    sql`with due as (
          (select channel_id from notification join channel on channel.id = channel_id
            where message_id is null and due_at <= ${at} and ${mayStart}
              -- Behind a message that waits for its next try only what cannot wait is sent.
              and (urgent or not exists (select from channel_message as message
                where message.channel_id = channel.id and ${isOpen} and next_at > ${at}))
            group by channel_id order by min(due_at) limit ${limit})
          union
          (select channel_id from channel_message as message join channel on channel.id = channel_id
            where ${isOpen} and next_at <= ${at} and ${mayStart}
            group by channel_id order by min(next_at) limit ${limit}))
        update channel set swept_at = ${at} from due where channel.id = due.channel_id and ${mayStart}
        returning channel.id`,
  )
  return rows.map(({ id }) => id)
}
