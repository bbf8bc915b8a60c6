import { describeChange } from '../../domain/payment/change-entries.ts'
import { bookingBetween } from '../../domain/payment/funds/stored-funds.ts'
import { sourcesOf } from '../../domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { execute, sql, type Tx } from '../db.ts'
import { bookAll } from '../ledger.ts'
import { completeLinks } from '../links/completed.ts'
import { recordEvents } from '../webhooks/events.ts'
import { type ChangeContext, complete, kindOf, listEvents } from './payment-changes.ts'
import { entryColumns, entryFrom, listEntries, renderEntries } from './timeline.ts'

/** A payment that becomes `succeeded` by its transfer and by nothing else: as it was read under the lock, and with the transfer. */
export type Success = {
  readonly before: PaymentWithAttempts
  readonly paid: PaymentWithAttempts
  /** The place of the transfer, for the timeline. */
  readonly data: object
}

/**
 * Writes state, timeline, books, events and deliveries of many locked payments in a few statements, with the rows that
 * `changePaymentIn` would write for each alone. Answers the events of each that somebody subscribes to. Throws when
 * somebody wrote without the lock.
 */
export async function succeedTogether(
  tx: Tx,
  context: ChangeContext,
  successes: readonly Success[],
): Promise<string[][]> {
  if (successes.length === 0) return []
  const at = new Date(context.now()).toISOString()
  const changes = successes.map(({ before, paid, data }) => {
    const { payment, ...rest } = complete(paid, at)
    const after = { ...rest, payment: { ...payment, version: payment.version + 1, updatedAt: at } }
    return { before, after, entries: describeChange(before, after, { why: 'settled', data }), at }
  })
  const written = await execute(tx, successStatement(changes, at))
  const entries = changes.reduce((sum, { entries }) => sum + listEntries(entries).length, 0)
  if (written !== entries) throw new Error(`some of ${successes.length} payments have changed without their lock`)
  const bookings = changes.flatMap(({ before, after, entries }) => bookingBetween(before, after, kindOf(entries)) ?? [])
  await bookAll(tx, bookings, at)
  tx.afterCommit(() => changes.forEach(({ after }) => context.changed?.(after.payment.id)))
  const news = changes.map((change) => listEvents(context, change))
  const payments = changes.map(({ after }) => after.payment)
  const completed = await completeLinks(tx, { publicUrl: context.publicUrl, at }, payments)
  const ids = await recordEvents(tx, [...news.flat(), ...completed])
  const owners = [...news.flat(), ...completed].map(({ paymentId }) => paymentId)
  return payments.map(({ id }) => ids.flatMap((eventId, place) => (owners[place] === id ? (eventId ?? []) : [])))
}

type Change = Parameters<typeof listEvents>[1]

/** Fewer rows than entries when somebody wrote without the lock, or the transition is not allowed from the stored status. */
function successStatement(changes: readonly Change[], at: string) {
  const rows = changes.map(({ before, after: { payment }, entries }) => ({
    ...payment.transfer,
    id: payment.id,
    version: before.payment.version,
    paidMicro: payment.paidMicro,
    exception: payment.exception,
    reviews: payment.reviews,
    reviewSince: payment.reviewSince,
    closedAt: payment.closedAt,
    entries: renderEntries(listEntries(entries)),
  }))
  return sql`with
      given as (select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(id text, version int,
        exception text, reviews jsonb, "reviewSince" timestamptz, "closedAt" timestamptz, "txHash" text, "logIndex" int,
        "blockNumber" bigint, "finalizedAt" timestamptz, "paidMicro" numeric, entries jsonb)),
      written as (
        update payment p set version = p.version + 1, updated_at = ${at}::timestamptz, status = 'succeeded',
          succeeded_at = ${at}::timestamptz, payout = 'paid', status_reason = null, stopped_for = null,
          exception = g.exception, reviews = g.reviews, review_since = g."reviewSince", tx_hash = g."txHash",
          log_index = g."logIndex", block_number = g."blockNumber", finalized_at = g."finalizedAt",
          paid_micro = g."paidMicro", closed_at = g."closedAt"
        from given g where p.id = g.id and p.version = g.version and p.status = any(${sourcesOf('succeeded')})
        returning p.id)
      insert into timeline_entry (payment_id, at, ${entryColumns})
      select id, ${at}::timestamptz, ${entryFrom}
      from written join given using (id), jsonb_array_elements(entries) with ordinality as x(e, place)
      order by id, place`
}
