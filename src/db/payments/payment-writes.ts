import { z } from 'zod'
import { PROVIDERS } from '../../domain/methods.ts'
import type { ChangeEntries } from '../../domain/payment/change-entries.ts'
import { sourcesOf } from '../../domain/payment/payment.ts'
import type { Attempt, Payment, StoredSale } from '../../domain/payment/payment-object.ts'
import { execute, identifier, one, type Statement, sql, type Tx } from '../db.ts'
import { entriesInsert, listEntries } from './timeline.ts'

/** The statements by which a locked payment is changed. Only payment-changes.ts and payment-sets.ts run them. */

type Columns = Readonly<Record<string, unknown>>

/** The columns of a payment that may change. What was agreed with its merchant is fixed by a trigger. */
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
    reviews: JSON.stringify(payment.reviews),
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
    misfit: attempt.misfit && JSON.stringify(attempt.misfit),
    misfit_answer: attempt.misfitAnswer,
    back: attempt.back,
    returned: attempt.returned,
    cancel_asked: attempt.cancelAsked,
    silent: attempt.silent,
    ...rateColumns(attempt.rate),
    paid_at: attempt.paidAt,
    partner_reference: attempt.partnerReference,
    redirect_url: attempt.redirectUrl,
    intent_uri: attempt.intentUri,
    failure_code: attempt.failureCode,
  }
}

/** `, column = $n` for each column that differs. */
function assignments(before: Columns, after: Columns): Statement {
  return Object.entries(after)
    .filter(([name, value]) => value !== before[name])
    .map(([name, value]) => sql`, ${identifier(name)} = ${value}`)
    .reduce((left, right) => sql`${left}${right}`, sql``)
}

export const isPaymentChanged = (before: Payment, after: Payment): boolean =>
  differs(paymentColumns(before), paymentColumns(after))

export const isAttemptChanged = (before: Attempt, after: Attempt): boolean =>
  differs(attemptColumns(before), attemptColumns(after))

const differs = (before: Columns, after: Columns): boolean =>
  Object.entries(after).some(([name, value]) => value !== before[name])

export type PaymentWrite = {
  /** As it was read under the lock, and as it is now; both have the version that was read. */
  readonly before: Payment
  readonly after: Payment
  readonly entries: ChangeEntries
  readonly at: string
}

/**
 * Changes row and timeline in one statement. Throws when somebody wrote without the lock, or would move money that is not
 * free: that is a bug, because the domain asks before.
 */
export async function writePayment(tx: Tx, { before, after, entries, at }: PaymentWrite): Promise<void> {
  const [first] = entries.moves
  const guard = first === undefined ? sql`` : sql`and status = any(${sourcesOf(first.to)})`
  const { written } = await one(
    tx,
    z.object({ written: z.coerce.number() }),
    sql`with
        -- No row when somebody wrote without the lock, when the transition is not allowed from the stored status, or
        -- when the money is not free.
        written as (
          update payment set version = version + 1, updated_at = ${at}::timestamptz
            ${assignments(paymentColumns(before), paymentColumns(after))}
          where id = ${before.id} and version = ${before.version} ${guard} ${ifMoneyIsFree(before, after)} returning id),
        -- Fed by the row, so that a change that was refused leaves no entry.
        noted as (${entriesInsert(sql`written`, listEntries(entries), at)})
        select count(*) as written from written`,
  )
  if (written !== 1) throw new Error(`payment ${before.id} has changed without its lock, or its money is not free`)
}

/** The condition of the steps to a payout, which fix its amounts or hand it over. */
function ifMoneyIsFree(before: Payment, after: Payment): Statement {
  const isTaken = before.takenSale === null && after.takenSale !== null
  const isHanded = before.payout !== 'handed' && after.payout === 'handed'
  if (!isTaken && !isHanded) return sql``
  if (isHanded && after.held) return sql`and false`
  return sql`and money_is_free(id, ${after.takenSale}::smallint)`
}

export type NewAttempt = Pick<Attempt, 'id' | 'provider' | 'method' | 'asked'>

/** A new attempt as its row reads. */
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
  cancelAsked: false,
  silent: false,
  rate: null,
  paidAt: null,
  partnerReference: null,
  redirectUrl: null,
  intentUri: null,
  failureCode: null,
  revision: 1,
}

export async function insertAttempt(tx: Tx, attempt: Attempt): Promise<void> {
  const { id, paymentId, provider, method, asked, silentAfterHours, createdAt } = attempt
  await execute(
    tx,
    sql`insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, silent_after_hours, created_at,
          updated_at)
        values (${id}, ${paymentId}, ${provider}, ${method}, 'opening', ${asked.minor}, ${asked.currency},
          ${silentAfterHours}, ${createdAt}::timestamptz, ${createdAt}::timestamptz)`,
  )
}

/** Changes the attempt, and keeps what its partner has said, if that is new. `after` has the revision that is written. */
export async function writeAttempt(tx: Tx, { before, after }: { before: Attempt; after: Attempt }): Promise<void> {
  const { id, status, held, misfit, revision, updatedAt } = after
  const said = ({ status, held, misfit }: Attempt) => JSON.stringify([status, held, misfit])
  const isSaid = said(before) !== said(after)
  const kept = sql`, kept as (
    insert into reading (attempt_id, revision, at, status, held, misfit)
    values (${id}, ${revision}, ${updatedAt}::timestamptz, ${status}, ${held}::numeric,
      ${misfit && JSON.stringify(misfit)}::jsonb))`
  await one(
    tx,
    z.object({ id: z.string() }),
    sql`with written as (
          update attempt set revision = ${revision}, updated_at = ${updatedAt}::timestamptz
            ${assignments(attemptColumns(before), attemptColumns(after))}
          where id = ${id} and revision = ${before.revision} returning id)
        ${isSaid ? kept : sql``}
        select id from written`,
  )
}

/** Stores a sale, or the answer of the converter about it. */
export async function writeSale(
  tx: Tx,
  sale: StoredSale,
  { paymentId, at }: { paymentId: string; at: string },
): Promise<void> {
  const fill = sale.fill?.toString() ?? null
  await execute(
    tx,
    sql`insert into sale (payment_id, number, attempt_id, units, gross_micro, fill_micro, reference, state, asked_at)
        values (${paymentId}, ${sale.number}, ${sale.accountId}, ${sale.units.toString()}::numeric,
          ${sale.gross.toString()}::numeric, ${fill}::numeric, ${sale.reference}, ${sale.state}, ${at}::timestamptz)
        on conflict (payment_id, number) do update set fill_micro = excluded.fill_micro,
          reference = excluded.reference, state = excluded.state`,
  )
}
