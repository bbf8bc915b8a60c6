import { z } from 'zod'
import type { ProviderUsed } from '../../domain/methods.ts'
import { execute, many, maybeOne, type Queryable, sql } from '../db.ts'

export type PartnerEventKey = { readonly provider: ProviderUsed; readonly eventId: string }

/**
 * Stores a callback once. Null: nobody knows the attempt. `signaled` tells that the workflow had been told before, so
 * that a duplicate is only repeated while the first may have been lost.
 */
export function recordPartnerEvent(
  db: Queryable,
  event: PartnerEventKey & { attemptId: string; bodySha256: Uint8Array; at: string },
): Promise<{ payment_id: string; signaled: boolean } | null> {
  return maybeOne(
    db,
    z.object({ payment_id: z.string(), signaled: z.boolean() }),
    sql`with
        -- No row for an attempt that nobody knows: then nothing is stored.
        known as (
          select payment_id from attempt where id = ${event.attemptId} and provider = ${event.provider}),
        -- A duplicate leaves the first row, which says whether the workflow was told.
        stored as (
          insert into partner_event (provider, provider_event_id, attempt_id, body_sha256, received_at)
          select ${event.provider}, ${event.eventId}, ${event.attemptId}, ${event.bodySha256}, ${event.at}::timestamptz
          from known on conflict do nothing)
        -- The table as it was before the insert: a first callback finds no earlier one.
        select known.payment_id, coalesce(earlier.signaled_at is not null, false) as signaled
        from known left join partner_event earlier
          on earlier.provider = ${event.provider} and earlier.provider_event_id = ${event.eventId}`,
  )
}

export async function markSignaled(db: Queryable, keys: readonly PartnerEventKey[]): Promise<void> {
  await execute(
    db,
    sql`update partner_event set signaled_at = now()
        from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as done(provider text, "eventId" text)
        where partner_event.provider = done.provider and partner_event.provider_event_id = done."eventId"
          and signaled_at is null`,
  )
}

/** Callbacks whose signal may have been lost: at least `minAgeMs` old and not marked. Those of the chain at any age. */
export function listUnsignaled(
  db: Queryable,
  page: { minAgeMs: number; limit: number },
): Promise<{ provider: ProviderUsed; event_id: string; attempt_id: string; payment_id: string }[]> {
  return many(
    db,
    z.object({
      provider: z.custom<ProviderUsed>(),
      event_id: z.string(),
      attempt_id: z.string(),
      payment_id: z.string(),
    }),
    sql`select e.provider, e.provider_event_id as event_id, e.attempt_id, a.payment_id
        from partner_event e join attempt a on a.id = e.attempt_id
        where e.signaled_at is null
          and (e.provider = 'crypto' or e.received_at < now() - ${page.minAgeMs} * interval '1 millisecond')
        order by e.received_at limit ${page.limit}`,
  )
}
