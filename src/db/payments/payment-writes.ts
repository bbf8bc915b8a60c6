import { z } from 'zod'
import type { Booking } from '../../domain/ledger.ts'
import { PROVIDERS } from '../../domain/methods.ts'
import type { ChangeEntries } from '../../domain/payment/change-entries.ts'
import type { Attempt, Payment, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { identifier, one, type Queryable, type Statement, sql } from '../db.ts'
import { bookedParts } from '../ledger.ts'
import { type EventRow, recordedEvents } from '../webhooks/events.ts'
import { listEntries, renderEntries, timelineInsert } from './timeline.ts'

/** The only statement that changes payments. Only payment-changes.ts runs it. */

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

export const isPaymentChanged = (before: Payment, after: Payment): boolean =>
  JSON.stringify(paymentColumns(before)) !== JSON.stringify(paymentColumns(after))

export const isAttemptChanged = (before: Attempt, after: Attempt): boolean =>
  JSON.stringify(attemptColumns(before)) !== JSON.stringify(attemptColumns(after))

/** A payment as it was read, and as it is to be. Both have the version that was read. */
export type PaymentWrite = {
  readonly before: PaymentWithAttempts
  readonly after: PaymentWithAttempts
  readonly entries: ChangeEntries
  readonly booking: Booking | null
  readonly events: readonly EventRow[]
}

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
 * last the events. The parts are statements that run with it, and write only if the part `done` has a row. Returns the
 * ids of the events with subscribers; null, and nothing is written, if a payment has another version than the one that
 * was read. Outside of a transaction, pass only one payment. The statement has one text for any change, so that it is
 * planned once.
 */
export async function writePayments(
  db: Queryable,
  writes: readonly PaymentWrite[],
  { at, parts }: { readonly at: string; readonly parts: readonly Statement[] },
): Promise<readonly string[] | null> {
  const payments = writes.map((write) => ({
    ...paymentColumns(write.after.payment),
    id: write.before.payment.id,
    version: write.before.payment.version,
  }))
  const entries = writes.map(({ before, entries }) => ({
    id: before.payment.id,
    entries: renderEntries(listEntries(entries)),
  }))
  const events = writes.flatMap(({ events }) => events).map((row, place) => ({ ...row, place }))
  const bookings = writes.flatMap(({ booking }) => booking ?? [])
  const { is_written: isWritten, event_ids: eventIds } = await one(
    db,
    writtenRow,
    sql`with
      given_payment as (select * from jsonb_populate_recordset(null::payment, ${JSON.stringify(payments)}::jsonb)),
      written as (
        update payment old set ${setPayment}, version = old.version + 1, updated_at = ${at}::timestamptz
        from given_payment new where (old.id, old.version) = (new.id, new.version) returning old.id),
      done as (select from written having count(*) = ${payments.length}),
      noted as (${timelineInsert(JSON.stringify(entries), at)}),
      given_attempt as (
        select changed.*, said from jsonb_to_recordset(${JSON.stringify(writes.flatMap(renderAttempts))}::jsonb) as g(columns jsonb, said boolean),
          jsonb_populate_record(null::attempt, g.columns) as changed, done),
      attempted as (
        insert into attempt (${attemptColumnNames}) select ${attemptColumnNames} from given_attempt
        on conflict (id) do update set ${setAttempt}),
      kept as (
        insert into reading (attempt_id, revision, at, status, held, misfit)
        select id, revision, updated_at, status, held, misfit from given_attempt where said),
      -- In the order of their numbers: an order is ended before another one is open.
      sold as (
        insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
        select payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, ${at}::timestamptz
        from jsonb_populate_recordset(null::sale, ${JSON.stringify(writes.flatMap(renderSales))}::jsonb), done order by payment_id, number
        on conflict (payment_id, number) do update set fill_micro = excluded.fill_micro,
          reference = excluded.reference, state = excluded.state),
      ${bookedParts(bookings, at)},
      ${nameParts(parts)}
      ${recordedEvents(events, sql`exists (select from done)`)}
      select exists (select from done) as is_written,
        array(select distinct event_id from delivery_of order by event_id) as event_ids`,
  )
  return isWritten ? eventIds : null
}

const partsRow = z.object({ is_written: z.boolean() })
const writtenRow = z.object({ is_written: z.boolean(), event_ids: z.array(z.string()) })

const nameParts = (parts: readonly Statement[]): Statement =>
  parts
    .map((part, place) => sql`${identifier(`part_${place}`)} as (${part}),`)
    .reduce((all, part) => sql`${all} ${part}`, sql``)

/** Runs the parts without a change. False, and none has run, if the payment has changed since it was read. */
export async function writeParts(
  db: Queryable,
  { id, version }: Pick<Payment, 'id' | 'version'>,
  parts: readonly Statement[],
): Promise<boolean> {
  if (parts.length === 0) return true
  const { is_written: isWritten } = await one(
    db,
    partsRow,
    sql`with done as (select from payment where id = ${id} and version = ${version}),
      ${nameParts(parts)}
      nothing as (select)
      select exists (select from done) as is_written`,
  )
  return isWritten
}

function renderAttempts({ before, after }: PaymentWrite): object[] {
  return listChangedAttempts(before, after).map((attempt) => {
    const known = before.attempts.find(({ id }) => id === attempt.id)
    const { revision, updatedAt } = attempt
    const columns = { ...newAttemptColumns(attempt), ...attemptColumns(attempt), revision, updated_at: updatedAt }
    return { columns, said: hasNewReading(known, attempt) }
  })
}

type Attempts = Pick<PaymentWithAttempts, 'attempts'>

export const listChangedAttempts = (before: Attempts, after: Attempts): Attempt[] =>
  after.attempts.filter(({ id, revision }) => before.attempts.find((known) => known.id === id)?.revision !== revision)

const hasNewReading = (before: Attempt | undefined, after: Attempt): boolean =>
  renderReading(before ?? NOTHING_YET) !== renderReading(after)

const renderReading = ({ status, held, misfit }: Pick<Attempt, 'status' | 'held' | 'misfit'>): string =>
  JSON.stringify([status, held, misfit])

function renderSales({ before, after }: PaymentWrite): object[] {
  return listChangedSales(before, after).map(({ number, accountId, units, gross, fill, reference, state }) => ({
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

export const listChangedSales = (before: PaymentWithAttempts, after: PaymentWithAttempts): StoredSale[] =>
  after.sales.filter((sale) => {
    const known = before.sales.find(({ number }) => number === sale.number)
    return known === undefined || known.state !== sale.state || known.fill !== sale.fill
  })

export type NewAttempt = Pick<Attempt, 'id' | 'provider' | 'method' | 'asked'>

export const createdAttempt = (
  paymentId: string,
  { id, provider, method, asked }: NewAttempt,
  at: string,
): Attempt => ({
  ...NOTHING_YET,
  id,
  provider,
  method,
  asked,
  paymentId,
  silentAfterHours: PROVIDERS[provider].listenHours,
  createdAt: at,
  updatedAt: at,
})

const NOTHING_YET: Omit<Attempt, keyof NewAttempt | 'paymentId' | 'silentAfterHours' | 'createdAt' | 'updatedAt'> = {
  status: 'opening',
  askedMicro: null,
  held: '0',
  outside: '0',
  writtenOff: '0',
  misfit: null,
  misfitAnswer: 'none',
  back: 'no',
  returned: false,
  refusals: 0,
  cancelAsked: false,
  silent: false,
  rate: null,
  paidAt: null,
  confirmedAt: null,
  partnerReference: null,
  partnerPayments: [],
  redirectUrl: null,
  intentUri: null,
  failureCode: null,
  revision: 1,
}
