import type { Statement } from '../db/db.ts'
import type { OrderDisputes } from '../domain/dispute/order-disputes.ts'
import type { Booking } from '../domain/ledger.ts'
import type { ChangedFacts, PaymentFacts } from '../domain/payment/change.ts'
import type { Cause } from '../domain/payment/change-entries.ts'
import type { Funds } from '../domain/payment/funds/funds.ts'
import { advanceFunds, withFunds } from '../domain/payment/funds/stored-funds.ts'
import { createAttempt, type NewAttempt } from '../domain/payment/new-attempt.ts'
import type { Attempt, PaymentWithAttempts, StoredSale } from '../domain/payment/payment-object.ts'
import type { Note } from '../domain/timeline.ts'

/** A payment that is being changed. Its facts are written together at the end, with everything that follows from them. */
export type PaymentDraft = {
  readonly state: PaymentWithAttempts
  /** The time of everything that is written (ISO 8601). */
  readonly at: string
  readonly setPayment: (facts: PaymentFacts) => void
  readonly setFunds: (funds: Funds) => void
  readonly setAttempt: (attemptId: string, facts: Partial<Attempt>) => void
  readonly setSale: (sale: StoredSale) => void
  /** Adds an attempt, which must be committed before the partner is asked. A second call changes nothing. */
  readonly addAttempt: (attempt: NewAttempt) => void
  /** Takes each step that needs no other party, so that the caller sees the result. It is done at the end anyway. */
  readonly advanceFunds: () => void
  /** Names the cause of the change, if it does not follow from the change itself. */
  readonly setCause: (cause: Cause) => void
  readonly addNote: (note: Note) => void
  /** Runs the statement with the change, or alone if nothing changes. It writes only if the part `done` has a row. */
  readonly addStatement: (statement: Statement) => void
  /** Writes the change only if this is true in its statement; otherwise `changePayment` throws ConditionNotMet. */
  readonly addCondition: (condition: Statement) => void
  /** Records what the partner of an order reports about its disputes. It needs a larger transaction. */
  readonly addDisputes: (disputes: OrderDisputes) => void
  /** Has the relay complete the activity that waits for the payout, or signal the workflow, also if nothing changes. */
  readonly relayChange: () => void
}

export type LockedDraft = PaymentDraft & {
  /** Books another fact with the change. A fact that was booked before stays as it is. */
  readonly addBooking: (booking: Booking) => void
}

/** A draft that is complete, with everything that is to be written with it. */
export type Drafted = ChangedFacts & {
  readonly before: PaymentWithAttempts
  readonly at: string
  readonly statements: readonly Statement[]
  readonly conditions: readonly Statement[]
  readonly bookings: readonly Booking[]
  readonly disputes: readonly OrderDisputes[]
  readonly isRelayed: boolean
}

export type OpenDraft = { readonly draft: LockedDraft; readonly close: () => Drafted }

export function openDraft(before: PaymentWithAttempts, at: string): OpenDraft {
  let state = before
  let cause: Cause | null = null
  let isRelayed = false
  const notes: Note[] = []
  const statements: Statement[] = []
  const conditions: Statement[] = []
  const bookings: Booking[] = []
  const disputes: OrderDisputes[] = []
  const setAttempts = (attempts: readonly Attempt[]) => void (state = { ...state, attempts })
  const draft: LockedDraft = {
    get state() {
      return state
    },
    at,
    setPayment: (facts) => void (state = { ...state, payment: { ...state.payment, ...facts } }),
    setFunds: (funds) => void (state = withFunds(state, funds)),
    setAttempt: (id, facts) =>
      setAttempts(state.attempts.map((attempt) => (attempt.id === id ? { ...attempt, ...facts } : attempt))),
    setSale: (sale) => {
      const others = state.sales.filter(({ number }) => number !== sale.number)
      state = { ...state, sales: [...others, sale].toSorted((a, b) => a.number - b.number) }
    },
    addAttempt: (attempt) => {
      if (state.attempts.some(({ id }) => id === attempt.id)) return
      setAttempts([...state.attempts, createAttempt(state.payment.id, attempt, at)])
    },
    advanceFunds: () => void (state = advanceFunds(state)),
    setCause: (given) => void (cause = given),
    addNote: (note) => void notes.push(note),
    addStatement: (statement) => void statements.push(statement),
    addCondition: (condition) => void conditions.push(condition),
    addDisputes: (reported) => void disputes.push(reported),
    relayChange: () => void (isRelayed = true),
    addBooking: (booking) => void bookings.push(booking),
  }
  const close = () => ({ before, at, state, cause, notes, statements, conditions, bookings, disputes, isRelayed })
  return { draft, close }
}
