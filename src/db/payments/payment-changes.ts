import type { Booking } from '../../domain/ledger.ts'
import type { AttemptFields, PaymentFields } from '../../domain/payment/changes.ts'
import { canMove, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { renderPayment } from '../../domain/payment/payment-object.ts'
import { nextStep, type PaymentSnapshot, snapshotOf } from '../../domain/payment/snapshot.ts'
import { moveNote, type Note, type Reason } from '../../domain/timeline.ts'
import { isWebhookEventType, type WebhookEventType } from '../../domain/webhook.ts'
import { type Db, execute, sql, type Tx } from '../db.ts'
import { book } from '../ledger.ts'
import { recordEvent } from '../webhooks/events.ts'
import { insertAttempt, type NewAttempt, type PaymentWrite, writeAttempt, writePayment } from './payment-writes.ts'
import { lockPayment } from './payments.ts'
import { insertNote } from './timeline.ts'

/** What every change needs to know of its surroundings. */
export type ChangeContext = { readonly publicUrl: string; readonly now: () => number }

/** What a change answers: the payment afterwards, and the events that somebody subscribes to. */
export type Changed = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

/** What is answered when nothing had to be changed. */
export function unchanged(state: PaymentWithAttempts): Changed {
  return { payment: snapshotOf(state), events: [] }
}

/** What may be done to a locked payment. Each call writes at once, in the transaction that holds the lock. */
export type PaymentWork = {
  readonly state: PaymentWithAttempts
  readonly tx: Tx
  readonly at: string
  /** Changes the status, with a timeline entry. Throws when the transition table does not allow it: that is a bug. */
  move(to: PaymentStatus, reason: Reason, fields?: PaymentFields): Promise<void>
  /** Changes fields without a transition, with a timeline entry. */
  change(note: Note, fields: PaymentFields): Promise<void>
  note(note: Note): Promise<void>
  /** Stores the attempt, which must be committed before the partner is asked. A second time it changes nothing. */
  addAttempt(attempt: NewAttempt): Promise<void>
  saveAttempt(attemptId: string, fields: AttemptFields): Promise<void>
  book(booking: Booking): Promise<boolean>
}

/** Locks the payment, lets `work` change it, writes the events last, and answers what is true afterwards. */
export function changePayment(
  db: Db,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  return db.transaction((tx) => changePaymentIn(tx, context, { id, work }))
}

/** Changes a payment inside a transaction that does more, such as marking a payout settled. */
export async function changePaymentIn(
  tx: Tx,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  let state = await lockPayment(tx, id)
  const at = new Date(context.now()).toISOString()
  const announced: { type: WebhookEventType; object: object }[] = []
  const written = async (change: Omit<PaymentWrite, 'payment' | 'at'>): Promise<void> => {
    state = { ...state, payment: await writePayment(tx, { ...change, payment: state.payment, at }) }
  }

  await work({
    get state() {
      return state
    },
    tx,
    at,
    move: async (to, reason, fields = {}) => {
      const from = state.payment.status
      if (!canMove(from, to)) throw new Error(`payment ${id}: no transition from ${from} to ${to}`)
      await written({ to, note: moveNote(to, reason), fields })
      const type = `payment.${to}`
      if (isWebhookEventType(type))
        announced.push({ type, object: renderPayment(state.payment, state.attempts, context.publicUrl) })
    },
    change: (note, fields) => written({ to: null, note, fields }),
    note: (note) => insertNote(tx, { ...note, paymentId: id, at }),
    addAttempt: async (attempt) => {
      const added = await insertAttempt(tx, { paymentId: id, attempt, at })
      if (added !== null) state = { ...state, attempts: [...state.attempts, added] }
    },
    saveAttempt: async (attemptId, fields) => {
      const attempt = await writeAttempt(tx, { attemptId, fields, at })
      state = { ...state, attempts: state.attempts.map((other) => (other.id === attemptId ? attempt : other)) }
    },
    book: (booking) => book(tx, booking, at),
  })

  await markClosed(tx, state, at)
  const events: string[] = []
  const { merchantId, livemode } = state.payment
  for (const { type, object } of announced) {
    const eventId = await recordEvent(tx, { merchantId, livemode, type, paymentId: id, object, at })
    if (eventId !== null) events.push(eventId)
  }
  return { payment: snapshotOf(state), events }
}

/** Nothing left to wait for: the relay need not look for its workflow any more. Reopened by late money. */
async function markClosed(tx: Tx, state: PaymentWithAttempts, at: string): Promise<void> {
  const done = nextStep(snapshotOf(state)) === 'done'
  if (done === (state.payment.closedAt !== null)) return
  await execute(
    tx,
    done
      ? sql`update payment set closed_at = ${at}::timestamptz where id = ${state.payment.id}`
      : sql`update payment set closed_at = null where id = ${state.payment.id}`,
  )
}
