import { z } from 'zod'
import { execute, many, type Queryable, type Statement, sql, type Tx } from './db.ts'

/** A message to Temporal: stored with the change, and sent again until the row is deleted. */
export type OutboxKind = 'start_payment' | 'complete_transfer'

export type OutboxRow = {
  readonly id: string
  readonly kind: OutboxKind
  readonly subject: string
  readonly payload: unknown
}

/**
 * Stores messages. A second message of the same kind and subject replaces the first, which it makes obsolete. It gets a
 * new id even if its payload is the same, so that the relay that has read the first does not delete it. The subjects
 * must differ.
 */
export async function putOutbox(
  tx: Tx,
  kind: OutboxKind,
  messages: readonly { readonly subject: string; readonly payload: object }[],
): Promise<void> {
  await execute(
    tx,
    sql`insert into outbox (kind, subject, payload)
        select ${kind}, m.subject, m.payload
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as m(subject text, payload jsonb) order by m.subject
        on conflict (kind, subject) do update set id = default, payload = excluded.payload, created_at = now()`,
  )
}

const outboxRow = z.object({
  id: z.string(),
  kind: z.enum(['start_payment', 'complete_transfer']),
  subject: z.string(),
  payload: z.unknown(),
})

type Page = { readonly minAgeMs: number; readonly limit: number }

/** Reads the oldest messages that are at least `minAgeMs` milliseconds old, without those of the other mode. */
export function readOutbox(db: Queryable, kind: OutboxKind, page: Page): Promise<OutboxRow[]> {
  return many(db, outboxRow, selectOutbox(db, kind, page))
}

/** Locks them until the transaction ends. Skips messages that another relay has locked. */
export function takeOutbox(tx: Tx, kind: OutboxKind, page: Page): Promise<OutboxRow[]> {
  return many(tx, outboxRow, sql`${selectOutbox(tx, kind, page)} for update skip locked`)
}

const selectOutbox = ({ livemode }: Queryable, kind: OutboxKind, page: Page): Statement =>
  sql`select id::text, kind, subject, payload from outbox
      where kind = ${kind} and created_at <= now() - ${page.minAgeMs} * interval '1 millisecond'
        and not exists (select 1 from payment where payment.id = subject and livemode <> ${livemode})
      order by id limit ${page.limit}`

/** Deletes messages that were sent. A message that was replaced since has another id and stays. */
export async function deleteOutbox(db: Queryable, rows: readonly Pick<OutboxRow, 'id'>[]): Promise<void> {
  if (rows.length === 0) return
  await execute(db, sql`delete from outbox where id = any(${rows.map(({ id }) => id)}::bigint[])`)
}

export async function deleteStarts(db: Queryable, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length === 0) return
  await execute(db, sql`delete from outbox where kind = 'start_payment' and subject = any(${paymentIds})`)
}
