import { PROVIDERS } from '../../domain/methods.ts'
import type { AttemptFields, PaymentFields } from '../../domain/payment/changes.ts'
import type { PaymentStatus } from '../../domain/payment/payment.ts'
import { sourcesOf } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import type { Note } from '../../domain/timeline.ts'
import { identifier, maybeOne, one, type Statement, sql, type Tx } from '../db.ts'
import { attemptRow, paymentRow } from './payment-rows.ts'
import { timelineInsert } from './timeline.ts'

/** The statements by which a locked payment is changed. Only payment-changes.ts runs them. */

/** When a state is entered, this column says since when. */
const ENTERED: Partial<Record<PaymentStatus, string>> = {
  succeeded: 'succeeded_at',
  failed: 'failed_at',
  canceled: 'canceled_at',
}

export type NewAttempt = Pick<Attempt, 'id' | 'provider' | 'method' | 'asked'>

export type PaymentWrite = {
  /** As it was read under the lock. */
  readonly payment: Payment
  readonly to: PaymentStatus | null
  readonly note: Note
  readonly fields: PaymentFields
  readonly at: string
}

/**
 * Changes row and timeline in one statement. Throws when somebody wrote without the lock, or would move money that is not
 * free: that is a bug, because the domain asks before.
 */
export function writePayment(tx: Tx, { payment, to, note, fields, at }: PaymentWrite): Promise<Payment> {
  const entered = to === null ? undefined : ENTERED[to]
  const since = entered === undefined ? sql`` : sql`, ${identifier(entered)} = ${at}::timestamptz`
  const status = to === null ? sql`` : sql`, status = ${to}`
  const guard = to === null ? sql`` : sql`and status = any(${sourcesOf(to)})`
  const from = to === null ? null : payment.status
  return one(
    tx,
    paymentRow,
    sql`with
        -- No row when somebody wrote without the lock, when the transition is not allowed from the stored status, or
        -- when the money is not free.
        written as (
          update payment set version = version + 1, updated_at = ${at}::timestamptz ${status} ${assignments(fields)} ${since}
          where id = ${payment.id} and version = ${payment.version} ${guard} ${ifMoneyIsFree({ to, fields })} returning *),
        -- Fed by the row, so that a change that was refused leaves no entry.
        noted as (${timelineInsert(sql`written`, { note, at, from, to })})
        select * from written`,
  )
}

/** The condition of the steps to a payout, which fix its amounts or hand it in. */
function ifMoneyIsFree({ to, fields }: Pick<PaymentWrite, 'to' | 'fields'>): Statement {
  const isMoneyStep = to === 'settling' || fields.grossMicro !== undefined
  return isMoneyStep ? sql`and money_is_free(payment)` : sql``
}

/** Null when an attempt of that id exists. */
export function insertAttempt(
  tx: Tx,
  entry: { paymentId: string; attempt: NewAttempt; at: string },
): Promise<Attempt | null> {
  const { id, provider, method, asked } = entry.attempt
  return maybeOne(
    tx,
    attemptRow,
    sql`insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, silent_after_hours, created_at,
          updated_at)
        values (${id}, ${entry.paymentId}, ${provider}, ${method}, 'opening', ${asked.minor}, ${asked.currency},
                ${PROVIDERS[provider].listenHours}, ${entry.at}::timestamptz, ${entry.at}::timestamptz)
        on conflict (id) do nothing returning *`,
  )
}

export function writeAttempt(
  tx: Tx,
  { attemptId, fields, at }: { attemptId: string; fields: AttemptFields; at: string },
): Promise<Attempt> {
  return one(
    tx,
    attemptRow,
    sql`update attempt set updated_at = ${at}::timestamptz ${assignments(fields)} where id = ${attemptId} returning *`,
  )
}

/** `, column = $n` for each field; the column names come from the types above, never from outside. */
function assignments(fields: PaymentFields | AttemptFields): Statement {
  return Object.entries(fields)
    .map(([name, value]) => sql`, ${identifier(snakeCase(name))} = ${value}`)
    .reduce((left, right) => sql`${left}${right}`, sql``)
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
