import { z } from 'zod'
import type { ProviderUsed } from '../../domain/methods.ts'
import type { CallbackSubject } from '../../domain/payment/partner.ts'
import { many, maybeOne, type Queryable, type Statement, sql } from '../db.ts'
import { untilRepeat } from '../repeats.ts'

/** The inbox of partners' callbacks: each is repeated to its workflow until an answer of the partner is applied. */

/**
 * Stores a callback once. Null: no attempt of this deployment is its subject. `applied`: the partner was asked after the
 * callback had arrived and its answer was applied, so a duplicate need not be sent to the workflow. A duplicate has the
 * same id, the same attempt and the same bytes: an id that a partner uses again, for example after a change of its
 * system, hides no callback.
 */
export async function recordCallback(
  db: Queryable,
  event: PartnerCallback,
): Promise<{ payment_id: string; attempt_id: string; applied: boolean } | null> {
  const first = await storeEvent(db, event)
  // Another callback took the id at the same moment: the second read finds it.
  const stored = first?.kept === false ? await storeEvent(db, event) : first
  return stored && { payment_id: stored.payment_id, attempt_id: stored.attempt_id, applied: stored.applied }
}

const isSubject = (subject: CallbackSubject): Statement =>
  'attemptId' in subject
    ? sql`a.id = ${subject.attemptId}`
    : sql`a.partner_payments <> '{}' and a.partner_payments @> array[${subject.payment}]`

type PartnerCallback = {
  readonly provider: ProviderUsed
  readonly eventId: string
  readonly subject: CallbackSubject
  readonly bodySha256: Uint8Array
  /** ISO 8601. */
  readonly at: string
}

const storedRow = z.object({ payment_id: z.string(), attempt_id: z.string(), applied: z.boolean(), kept: z.boolean() })

function storeEvent(db: Queryable, event: PartnerCallback): Promise<z.infer<typeof storedRow> | null> {
  return maybeOne(
    db,
    storedRow,
    sql`with
        -- No row for an order of somebody else, or of the other mode: then nothing is stored.
        known as (
          select a.payment_id, a.id as attempt_id from attempt a join payment m on m.id = a.payment_id
          where ${isSubject(event.subject)} and a.provider = ${event.provider} and m.livemode = ${db.livemode} limit 1),
        -- Its own id, or another one if its own id belongs to a callback about another order.
        named as (
          select payment_id, attempt_id, case when exists (
              select from partner_callback other
              where other.provider = ${event.provider} and other.provider_event_id = ${event.eventId}
                and other.attempt_id <> known.attempt_id)
            then concat_ws(' ', ${event.eventId}::text, attempt_id) else ${event.eventId} end as event_id
          from known),
        -- Partners send a callback again when they saw no answer: the first one counts. In other words it is unread again.
        stored as (
          insert into partner_callback as e (provider, provider_event_id, attempt_id, body_sha256, received_at)
          select ${event.provider}, event_id, attempt_id, ${event.bodySha256}, ${event.at}::timestamptz
          from named on conflict (provider, provider_event_id) do update set body_sha256 = excluded.body_sha256,
            seq = default, applied_at = null,
            received_at = case when e.applied_at is null then e.received_at else excluded.received_at end,
            repeats = case when e.applied_at is null then e.repeats else 0 end,
            due_at = case when e.applied_at is null then e.due_at else now() end
          where e.body_sha256 <> excluded.body_sha256 and e.attempt_id = excluded.attempt_id returning 1)
        select named.payment_id, named.attempt_id, exists (select from stored) or earlier.body_sha256 is not null as kept,
          coalesce(earlier.applied_at is not null and earlier.body_sha256 = ${event.bodySha256}, false) as applied
        from named left join partner_callback earlier
          on earlier.provider = ${event.provider} and earlier.provider_event_id = named.event_id`,
  )
}

/**
 * For a change of the payment: the partner was asked about the attempt when its newest unread callback was `newest`, and the
 * answer is applied. A callback that arrived while the partner was asked stays unread: the answer might be older.
 */
export const markCallbacksApplied = (attemptId: string, newest: string): Statement =>
  sql`update partner_callback set applied_at = now() from done
      where attempt_id = ${attemptId} and applied_at is null and seq <= ${newest}::bigint`

const unreadRow = z.object({ attempt_id: z.string(), payment_id: z.string() })

/**
 * Takes unread callbacks that are due and sets the time of the next repeat, so that several relays do not repeat the
 * same ones. A callback younger than `minAgeMs` is still in the hands of the process that stored it; a fact of the
 * chain has no such process.
 */
export function takeUnread(
  db: Queryable,
  page: { readonly minAgeMs: number; readonly limit: number },
): Promise<z.infer<typeof unreadRow>[]> {
  return many(
    db,
    unreadRow,
    sql`with
        -- Locks one callback at a time, so that two relays share the work. Callbacks of the other mode belong to its own relay.
        due as (
          select e.provider, e.provider_event_id
          from partner_callback e join attempt a on a.id = e.attempt_id join payment m on m.id = a.payment_id
          where e.applied_at is null and m.livemode = ${db.livemode} and e.due_at <= now() and e.due_at <= now() - case
            when e.repeats = 0 and e.provider <> 'crypto' then ${page.minAgeMs} * interval '1 millisecond'
            else interval '0' end
          order by e.due_at limit ${page.limit} for update of e skip locked),
        -- The next time is set before the message is sent: one that gets lost is repeated then.
        taken as (
          update partner_callback e set repeats = e.repeats + 1, due_at = now() + ${untilRepeat(sql`e.repeats`)}
          from due where (e.provider, e.provider_event_id) = (due.provider, due.provider_event_id)
          returning e.attempt_id)
        select distinct attempt_id, payment_id from taken join attempt on attempt.id = taken.attempt_id`,
  )
}
