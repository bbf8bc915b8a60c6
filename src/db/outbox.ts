import { z } from 'zod'
import { execute, many, type Queryable, type Statement, sql, type Tx } from './db.ts'
import { type PaymentWithEvents, paymentWithEventsRow, stateColumns } from './payments/payments.ts'
import { untriedEvents } from './webhooks/deliveries.ts'

/** Messages to Temporal: each is stored with the change that it follows from, and sent again until its row is deleted. */

export type Message = { readonly id: string }

type Page = { readonly minAgeMs: number; readonly limit: number }

const startRow = z.object({ id: z.string(), subject: z.string() }).transform(({ id, subject: paymentId }) => ({
  id,
  paymentId,
}))

/**
 * Reads the oldest starts of workflows that are at least `minAgeMs` milliseconds old, and locks them until the
 * transaction ends. Skips those that another relay has locked, and those of the other mode.
 */
export function takeStarts(tx: Tx, { minAgeMs, limit }: Page): Promise<z.output<typeof startRow>[]> {
  return many(
    tx,
    startRow,
    sql`select id::text, subject from outbox
        where kind = 'start_payment' and created_at <= now() - ${minAgeMs} * interval '1 millisecond'
          and not exists (select 1 from payment where payment.id = subject and livemode <> ${tx.livemode})
        order by id limit ${limit} for update skip locked`,
  )
}

/**
 * Returns the statement that stores a message about each changed payment; it writes only if the part `done` has a row.
 * A message that waits already gets a new id, so that the relay that has read it does not delete the newer one.
 */
export const changeMessages = (paymentIds: readonly string[]): Statement =>
  sql`insert into outbox (kind, subject) select 'payment_changed', id
      from unnest(${[...paymentIds]}::text[]) as id, done order by id
      on conflict (kind, subject) do update set id = default, created_at = now()`

export type ChangeMessage = Message & PaymentWithEvents

const messageRow = z.object({ message_id: z.string() })
const changeRow = z
  .unknown()
  .transform((row): ChangeMessage => ({ id: messageRow.parse(row).message_id, ...paymentWithEventsRow.parse(row) }))

/** The api delivers the event of a creation: a slow endpoint must not get it twice. */
const ofChanges = sql`and event.type <> 'payment.created'`

/** Reads the oldest messages about changed payments, each with the payment as it is now and its untried events. */
export function readChangeMessages(db: Queryable, limit: number): Promise<ChangeMessage[]> {
  return many(
    db,
    changeRow,
    sql`select outbox.id::text as message_id, payment.*, to_jsonb(state) as state,
          array(${untriedEvents(sql`payment.id`, ofChanges)}) as events
        from outbox join payment on payment.id = subject, lateral (${stateColumns(sql`payment.id`)}) as state
        where kind = 'payment_changed' and payment.livemode = ${db.livemode} order by outbox.id limit ${limit}`,
  )
}

/** Deletes messages that were sent. A message that was replaced since has another id and stays. */
export async function deleteMessages(db: Queryable, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  await execute(db, sql`delete from outbox where id = any(${messages.map(({ id }) => id)}::bigint[])`)
}

export async function deleteStarts(db: Queryable, paymentIds: readonly string[]): Promise<void> {
  if (paymentIds.length === 0) return
  await execute(db, sql`delete from outbox where kind = 'start_payment' and subject = any(${paymentIds})`)
}
