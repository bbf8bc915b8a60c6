import { z } from 'zod'
import type { PaymentChange } from '../../domain/payment/change.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import { hasNewReading } from '../../domain/payment/reading.ts'
import { identifier, one, type Queryable, type Statement, sql } from '../db.ts'
import { bookedParts } from '../ledger.ts'
import { type EventRow, recordedEvents } from '../webhooks/events.ts'
import { listEntries, renderEntries, timelineInsert } from './timeline.ts'

/** The only statement that changes payments. Only the room `payments` runs it. */

type Columns = Readonly<Record<string, unknown>>

/** The columns of a payment that can change. A trigger fixes the columns that were agreed with its merchant. */
function paymentColumns(payment: Payment): Columns {
  const { confirmed, rate, usdc, transfer } = payment
  return {
    status: payment.status,
    status_reason: payment.statusReason,
    exception: payment.exception,
    held: payment.held,
    closed_as: payment.closedAs,
    payout: payment.payout,
    stopped_for: payment.stoppedFor,
    stuck: payment.stuck,
    converting_since: payment.convertingSince,
    reviews: payment.reviews,
    review_since: payment.reviewSince,
    provider_used: payment.providerUsed,
    method_used: payment.methodUsed,
    paid_attempt_id: payment.paidAttemptId,
    charge_currency: confirmed?.currency ?? null,
    confirmed_minor: confirmed?.minor ?? null,
    ...rateColumns(rate),
    agreed: payment.agreed,
    taken_sale: payment.takenSale,
    gross_micro: usdc?.gross ?? null,
    fee_micro: usdc?.fee ?? null,
    net_micro: usdc?.net ?? null,
    tx_hash: transfer?.txHash ?? null,
    log_index: transfer?.logIndex ?? null,
    block_number: transfer?.blockNumber ?? null,
    finalized_at: transfer?.finalizedAt ?? null,
    paid_micro: payment.paidMicro,
    reserved_micro: payment.reservedMicro,
    reserve_released_micro: payment.reserveReleasedMicro,
    reserve_release_id: payment.reserveReleaseId,
    deducted_micro: payment.deduction?.micro ?? '0',
    deducted_for: payment.deduction?.refundId ?? null,
    deduction_release_id: payment.deduction?.releaseId ?? null,
    delayed_at: payment.delayedAt,
    expiry_postponed: payment.expiryPostponed,
    expiry_extended: payment.expiryExtended,
    listen_ended: payment.listenEnded,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt,
    succeeded_at: payment.succeededAt,
    failed_at: payment.failedAt,
    canceled_at: payment.canceledAt,
    closed_at: payment.closedAt,
    lost_minor: payment.lostMinor,
  }
}

const rateColumns = (rate: Payment['rate']): Columns => ({
  rate: rate?.rate ?? null,
  rate_source: rate?.source ?? null,
  rate_locked_at: rate?.lockedAt ?? null,
})

function attemptColumns(attempt: Attempt): Columns {
  return {
    status: attempt.status,
    asked_micro: attempt.askedMicro,
    held: attempt.held,
    outside: attempt.outside,
    written_off: attempt.writtenOff,
    refunded: attempt.refunded,
    refunding: attempt.refunding,
    misfit: attempt.misfit,
    misfit_answer: attempt.misfitAnswer,
    back: attempt.back,
    returned: attempt.returned,
    refusals: attempt.refusals,
    cancel_asked: attempt.cancelAsked,
    silent: attempt.silent,
    ...rateColumns(attempt.rate),
    paid_at: attempt.paidAt,
    confirmed_at: attempt.confirmedAt,
    partner_reference: attempt.partnerReference,
    partner_payments: attempt.partnerPayments,
    redirect_url: attempt.redirectUrl,
    intent_uri: attempt.intentUri,
    failure_code: attempt.failureCode,
  }
}

const newAttemptColumns = ({
  id,
  paymentId,
  provider,
  method,
  asked,
  silentAfterHours,
  createdAt,
}: Attempt): Columns => ({
  id,
  payment_id: paymentId,
  provider,
  method,
  amount_minor: asked.minor,
  currency: asked.currency,
  silent_after_hours: silentAfterHours,
  created_at: createdAt,
})

/** Payments that were read in these versions, with their changes. */
export type PaymentWrites = {
  readonly changes: readonly PaymentWrite[]
  /** Payments of the same transaction or statement that have not changed. */
  readonly unchanged: readonly PaymentVersion[]
  /** Statements that run with the changes. They write only if the part `done` has a row. */
  readonly statements: readonly Statement[]
  /** Nothing is written unless all of these are true. */
  readonly conditions: readonly Statement[]
  /** ISO 8601. */
  readonly at: string
}

export type PaymentWrite = Omit<PaymentChange, 'events'> & { readonly events: readonly EventRow[] }

export type PaymentVersion = Pick<Payment, 'id' | 'version'>

const listColumns = (columns: Columns): Statement[] => Object.keys(columns).map(identifier)
const join = (parts: readonly Statement[]): Statement => parts.reduce((left, right) => sql`${left}, ${right}`)

const PAYMENT_COLUMNS = listColumns(paymentColumns({} as Payment))
const CHANGED_COLUMNS = listColumns({ ...attemptColumns({} as Attempt), revision: 0, updated_at: '' })
const ATTEMPT_COLUMNS = [...listColumns(newAttemptColumns({ asked: {} } as Attempt)), ...CHANGED_COLUMNS]

const setPayment = join(PAYMENT_COLUMNS.map((name) => sql`${name} = new.${name}`))
const setAttempt = join(CHANGED_COLUMNS.map((name) => sql`${name} = excluded.${name}`))
const attemptColumnNames = join(ATTEMPT_COLUMNS)

/**
 * Writes payments with everything that belongs to them: attempts with their readings, sales, bookings, timeline, and
 * last the events. Returns the ids of the events with subscribers; null, and nothing is written, if a payment has
 * another version than the one that was read, or if a condition is not true. Outside of a transaction, pass only one
 * payment.
 */
export async function writePayments(
  db: Queryable,
  { changes, unchanged, statements, conditions, at }: PaymentWrites,
): Promise<readonly string[] | null> {
  const payments = changes.map(({ before: { payment }, after }) => ({
    ...paymentColumns(after.payment),
    id: payment.id,
    version: payment.version,
  }))
  const entries = changes.map(({ before, entries }) => ({
    id: before.payment.id,
    entries: renderEntries(listEntries(entries)),
  }))
  const events = changes.flatMap(({ events }) => events).map((row, place) => ({ ...row, place }))
  const bookings = changes.flatMap(({ booking }) => booking ?? [])
  const { is_written: isWritten, event_ids: eventIds } = await one(
    db,
    writtenRow,
    sql`with
      given_payment as (select * from jsonb_populate_recordset(null::payment, ${JSON.stringify(payments)}::jsonb)),
      written as (
        update payment old set ${setPayment}, version = old.version + 1, updated_at = ${at}::timestamptz
        from given_payment new where (old.id, old.version) = (new.id, new.version) ${conditions.reduce((all, one) => sql`${all} and ${one}`, sql``)} returning old.id),
      known as (
        select from payment join jsonb_to_recordset(${JSON.stringify(unchanged)}::jsonb) as given(id text, version int)
          on (payment.id, payment.version) = (given.id, given.version)),
      done as (
        select where (select count(*) from written) = ${payments.length} and (select count(*) from known) = ${unchanged.length}),
      noted as (${timelineInsert(JSON.stringify(entries), at)}),
      given_attempt as (
        select changed.*, is_read from jsonb_to_recordset(${JSON.stringify(changes.flatMap(renderAttempts))}::jsonb) as g(columns jsonb, is_read boolean),
          jsonb_populate_record(null::attempt, g.columns) as changed, done),
      attempted as (
        insert into attempt (${attemptColumnNames}) select ${attemptColumnNames} from given_attempt
        on conflict (id) do update set ${setAttempt}),
      kept as (
        insert into reading (attempt_id, revision, at, status, held, misfit)
        select id, revision, updated_at, status, held, misfit from given_attempt where is_read),
      -- In the order of their numbers: an order is ended before another one is open.
      sold as (
        insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
        select payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, ${at}::timestamptz
        from jsonb_populate_recordset(null::sale, ${JSON.stringify(changes.flatMap(renderSales))}::jsonb), done order by payment_id, number
        on conflict (payment_id, number) do update set fill_micro = excluded.fill_micro,
          reference = excluded.reference, state = excluded.state),
      ${bookedParts(bookings, at)},
      ${nameParts(statements)}
      ${recordedEvents(events, sql`exists (select from done)`)}
      select exists (select from done) as is_written,
        array(select distinct event_id from delivery_of order by event_id) as event_ids`,
  )
  return isWritten ? eventIds : null
}

const writtenRow = z.object({ is_written: z.boolean(), event_ids: z.array(z.string()) })

const nameParts = (statements: readonly Statement[]): Statement =>
  statements
    .map((statement, place) => sql`${identifier(`part_${place}`)} as (${statement}),`)
    .reduce((all, part) => sql`${all} ${part}`, sql``)

function renderAttempts({ before, attempts }: PaymentWrite): object[] {
  return attempts.map((attempt) => {
    const known = before.attempts.find(({ id }) => id === attempt.id) ?? null
    const { revision, updatedAt } = attempt
    const columns = { ...newAttemptColumns(attempt), ...attemptColumns(attempt), revision, updated_at: updatedAt }
    return { columns, is_read: hasNewReading(known, attempt) }
  })
}

function renderSales({ after, sales }: PaymentWrite): object[] {
  return sales.map(({ number, accountId, units, gross, fill, reference, state }) => ({
    payment_id: after.payment.id,
    number,
    attempt_id: accountId,
    units: units.toString(),
    gross_micro: gross.toString(),
    fill_micro: fill?.toString() ?? null,
    reference,
    state,
  }))
}
