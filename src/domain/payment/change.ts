import { isSame } from '../equality.ts'
import type { Booking } from '../ledger.ts'
import type { Note } from '../timeline.ts'
import { isWebhookEventType, type WebhookEventType } from '../webhook.ts'
import { type Cause, type ChangeEntries, describeChange, listLossChanges } from './change-entries.ts'
import { derive, endIfGivenBack } from './derived.ts'
import { findMoneyStep } from './funds/money-step.ts'
import { advanceFunds, createBooking, toFunds } from './funds/stored-funds.ts'
import { isClosed, type PaymentStatus } from './payment.ts'
import {
  type Attempt,
  type Derived,
  type Payment,
  type PaymentWithAttempts,
  renderChargeback,
  renderPayment,
  type StoredSale,
} from './payment-object.ts'

/** Decides what follows from a change of a payment's facts: computed fields, books, timeline and events. */

/** The facts of a payment: everything else about it is computed from them. */
export type PaymentFacts = Partial<Omit<Payment, keyof Derived | 'id' | 'version' | 'updatedAt' | 'closedAt'>>

export type ChangedFacts = {
  readonly state: PaymentWithAttempts
  readonly cause: Cause | null
  readonly notes: readonly Note[]
}

export type PaymentEvent = { readonly type: WebhookEventType; readonly object: object }

export type PaymentChange = {
  readonly before: PaymentWithAttempts
  readonly after: PaymentWithAttempts
  readonly attempts: readonly Attempt[]
  readonly sales: readonly StoredSale[]
  readonly entries: ChangeEntries
  readonly booking: Booking | null
  readonly events: readonly PaymentEvent[]
}

/** Null: nothing has changed. Any change increments the version of the payment, and of each attempt the revision. */
export function decideChange(
  before: PaymentWithAttempts,
  { state, cause, notes }: ChangedFacts,
  { at, publicUrl }: { readonly at: string; readonly publicUrl: string },
): PaymentChange | null {
  const computed = computePayment(state, at)
  const attempts = computed.attempts.flatMap((attempt) => raiseRevision(before, attempt, at) ?? [])
  const sales = computed.sales.filter((sale) => !before.sales.some((known) => isSame(known, sale)))
  const isChanged =
    notes.length > 0 || attempts.length > 0 || sales.length > 0 || !isSame(before.payment, computed.payment)
  if (!isChanged) return null
  const after = {
    ...computed,
    attempts: computed.attempts.map((known) => attempts.find(({ id }) => id === known.id) ?? known),
    payment: { ...computed.payment, version: before.payment.version + 1, updatedAt: at },
  }
  const entries = withNotes(describeChange(before, after, cause), notes)
  const booking = createBooking(before, after, nameBooking(entries))
  return { before, after, attempts, sales, entries, booking, events: listEvents(before, after, { entries, publicUrl }) }
}

/** Takes each step that needs no other party, and computes every field that follows from the facts. */
export function computePayment(changed: PaymentWithAttempts, at: string): PaymentWithAttempts {
  const state = derive(endIfGivenBack(advanceFunds(changed)), at)
  const isDone = findMoneyStep(toFunds(state)).do === 'done'
  const { payment } = state
  // The payment waits for nothing, so the relay need not check its workflow. Late money opens it again.
  const closedAt = isDone ? (payment.closedAt ?? at) : null
  return { ...state, payment: { ...payment, closedAt, ...timeOfStatus(changed.payment.status, payment.status, at) } }
}

function timeOfStatus(before: PaymentStatus, status: PaymentStatus, at: string): Partial<Payment> {
  if (status === before) return {}
  if (status === 'succeeded') return { succeededAt: at }
  if (status === 'failed') return { failedAt: at }
  return status === 'canceled' ? { canceledAt: at } : {}
}

/** Null: the attempt has not changed. A new one has its first revision. */
function raiseRevision(before: PaymentWithAttempts, attempt: Attempt, at: string): Attempt | null {
  const known = before.attempts.find(({ id }) => id === attempt.id)
  if (known === undefined) return attempt
  return isSame(known, attempt) ? null : { ...attempt, revision: known.revision + 1, updatedAt: at }
}

/** A note of the change replaces a computed one of the same kind. */
function withNotes(entries: ChangeEntries, notes: readonly Note[]): ChangeEntries {
  const kinds = new Set(notes.map(({ kind }) => kind))
  return { ...entries, notes: [...notes, ...entries.notes.filter(({ kind }) => !kinds.has(kind))] }
}

const nameBooking = ({ moves, notes }: ChangeEntries): string =>
  (moves.at(-1)?.note ?? notes[0])?.kind ?? 'payment.changed'

function listEvents(
  before: PaymentWithAttempts,
  after: PaymentWithAttempts,
  { entries, publicUrl }: { readonly entries: ChangeEntries; readonly publicUrl: string },
): PaymentEvent[] {
  const object = renderPayment(after.payment, after.attempts, publicUrl)
  const entered = entries.moves.flatMap(({ to }): PaymentEvent[] => {
    const type = `payment.${to}`
    return isWebhookEventType(type) ? [{ type, object: { ...object, status: to } }] : []
  })
  if (!isClosed(after.payment.status)) return entered
  const lost = listLossChanges(before, after).map((change): PaymentEvent => {
    const type = change.units > 0n ? 'payment.chargeback' : 'payment.chargeback_won'
    return { type, object: { ...object, chargeback: renderChargeback(change) } }
  })
  return [...entered, ...lost]
}
