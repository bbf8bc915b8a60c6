import type { Booking } from '../../domain/ledger.ts'
import { type Cause, type ChangeEntries, describeChange, listLossChanges } from '../../domain/payment/change-entries.ts'
import { derive, endIfGivenBack } from '../../domain/payment/derived.ts'
import type { Funds } from '../../domain/payment/funds/funds.ts'
import { advance, bookingBetween, withFunds } from '../../domain/payment/funds/stored-funds.ts'
import { isClosed, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Attempt, Derived, Payment, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { renderChargeback, renderPayment } from '../../domain/payment/payment-object.ts'
import { EXTENSION_MS, mayBeExtended } from '../../domain/payment/requests.ts'
import { nextStep, type PaymentSnapshot, snapshotOf } from '../../domain/payment/snapshot.ts'
import { type Note, noteOf } from '../../domain/timeline.ts'
import { isWebhookEventType } from '../../domain/webhook.ts'
import type { Db, Tx } from '../db.ts'
import { book } from '../ledger.ts'
import { completeLinks } from '../links/completed.ts'
import { type NewEvent, recordEvents } from '../webhooks/events.ts'
import {
  createdAttempt,
  insertAttempt,
  isAttemptChanged,
  isPaymentChanged,
  type NewAttempt,
  writeAttempt,
  writePayment,
  writeSale,
} from './payment-writes.ts'
import { lockPayment } from './payments.ts'
import { insertNotes } from './timeline.ts'

/** What every change needs to know of its surroundings. */
export type ChangeContext = {
  readonly publicUrl: string
  readonly now: () => number
  /** ChangeEntries the id of each payment when its change has been committed. */
  readonly changed?: (paymentId: string) => void
}

/** What a change answers: the payment afterwards, and the events that somebody subscribes to. */
export type Changed = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

/** What is answered when nothing had to be changed. */
export function unchanged(state: PaymentWithAttempts): Changed {
  return { payment: snapshotOf(state), events: [] }
}

/** The facts of a payment: everything else about it is computed from them. */
export type PaymentFacts = Partial<Omit<Payment, keyof Derived | 'id' | 'version' | 'updatedAt' | 'closedAt'>>

/** What may be done to a locked payment. It is written at the end, with what follows from it. */
export type PaymentWork = {
  /** The payment with what was changed so far. */
  readonly state: PaymentWithAttempts
  readonly tx: Tx
  readonly at: string
  readonly set: (facts: PaymentFacts) => void
  readonly setFunds: (funds: Funds) => void
  readonly setAttempt: (attemptId: string, facts: Partial<Attempt>) => void
  readonly setSale: (sale: StoredSale) => void
  /** Adds an attempt, which must be committed before the partner is asked. A second time it changes nothing. */
  readonly addAttempt: (attempt: NewAttempt) => void
  /** Says who has caused the change, where that does not follow from it. */
  readonly because: (cause: Cause) => void
  readonly note: (note: Note) => void
  /** Books a fact of the chain. The payment's own books follow from its funds. */
  readonly book: (booking: Booking) => Promise<boolean>
}

export type Work = (payment: PaymentWork) => Promise<void>

/** Locks the payment, lets `work` change it, writes the events last, and answers what is true afterwards. */
export function changePayment(
  db: Db,
  context: ChangeContext,
  { id, work }: { id: string; work: Work },
): Promise<Changed> {
  return db.transaction((tx) => changePaymentIn(tx, context, { id, work }))
}

/**
 * Moves the end of a payment that is about to expire, once. False where it may not be moved: it has closed meanwhile, or
 * was extended before.
 */
export async function extendPayment(tx: Tx, context: ChangeContext, id: string): Promise<boolean> {
  let isExtended = false
  const extend: Work = async (work) => {
    const { payment } = work.state
    if (!mayBeExtended(payment, context.now())) return
    const expiresAt = new Date(Date.parse(payment.expiresAt) + EXTENSION_MS).toISOString()
    work.note(noteOf('payment.expiry_extended', { expires_at: expiresAt }))
    work.set({ expiresAt, expiryExtended: true })
    isExtended = true
  }
  await changePaymentIn(tx, context, { id, work: extend })
  return isExtended
}

/** Changes a payment inside a transaction that does more, such as marking a payout settled. */
export async function changePaymentIn(
  tx: Tx,
  context: ChangeContext,
  { id, work }: { id: string; work: Work },
): Promise<Changed> {
  const before = await lockPayment(tx, id)
  const at = new Date(context.now()).toISOString()
  const draft = openDraft(tx, before, at)
  await work(draft.work)
  const after = complete(draft.state(), at)
  const entries = describeChange(before, after, draft.cause())
  const said = new Set(draft.notes().map(({ kind }) => kind))
  const all = { ...entries, notes: [...draft.notes(), ...entries.notes.filter(({ kind }) => !said.has(kind))] }
  const written = await write(tx, { before, after, entries: all, at })
  tx.afterCommit(() => context.changed?.(id))
  const news = listEvents(context, { before, after: written, entries, at })
  const isPaid = entries.moves.some(({ to }) => to === 'succeeded')
  const completed = isPaid ? await completeLinks(tx, { publicUrl: context.publicUrl, at }, [written.payment]) : []
  const events = (await recordEvents(tx, [...news, ...completed])).flatMap((eventId) => eventId ?? [])
  return { payment: snapshotOf(written), events }
}

/** The payment with everything that follows from its facts. */
export function complete(changed: PaymentWithAttempts, at: string): PaymentWithAttempts {
  const state = derive(endIfGivenBack(advance(changed)), at)
  const isDone = nextStep(state) === 'done'
  const { payment } = state
  // Nothing left to wait for: the relay need not look for its workflow any more. Late money opens it again.
  const closedAt = isDone ? (payment.closedAt ?? at) : null
  return { ...state, payment: { ...payment, closedAt, ...enteredAt(changed.payment.status, payment, at) } }
}

/** When a state is entered, this says since when. */
function enteredAt(before: PaymentStatus, { status }: Payment, at: string): Partial<Payment> {
  if (status === before) return {}
  if (status === 'succeeded') return { succeededAt: at }
  if (status === 'failed') return { failedAt: at }
  return status === 'canceled' ? { canceledAt: at } : {}
}

type Draft = {
  readonly work: PaymentWork
  readonly state: () => PaymentWithAttempts
  readonly cause: () => Cause | null
  readonly notes: () => readonly Note[]
}

/** What is done to the payment before it is written. */
function openDraft(tx: Tx, before: PaymentWithAttempts, at: string): Draft {
  let state = before
  let cause: Cause | null = null
  const notes: Note[] = []
  const setAttempts = (attempts: readonly Attempt[]) => void (state = { ...state, attempts })
  const work: PaymentWork = {
    get state() {
      return state
    },
    tx,
    at,
    set: (facts) => void (state = { ...state, payment: { ...state.payment, ...facts } }),
    setFunds: (funds) => void (state = withFunds(state, funds)),
    setAttempt: (id, facts) =>
      setAttempts(state.attempts.map((attempt) => (attempt.id === id ? { ...attempt, ...facts } : attempt))),
    setSale: (sale) => {
      const others = state.sales.filter(({ number }) => number !== sale.number)
      state = { ...state, sales: [...others, sale].toSorted((a, b) => a.number - b.number) }
    },
    addAttempt: (attempt) => {
      if (state.attempts.some(({ id }) => id === attempt.id)) return
      setAttempts([...state.attempts, createdAttempt(state.payment.id, attempt, at)])
    },
    because: (entries) => void (cause = entries),
    note: (note) => void notes.push(note),
    book: (booking) => book(tx, booking, at),
  }
  return { work, state: () => state, cause: () => cause, notes: () => notes }
}

type Change = {
  readonly before: PaymentWithAttempts
  readonly after: PaymentWithAttempts
  readonly entries: ChangeEntries
  readonly at: string
}

/** Writes what has changed, and books it. A change of anything is a change of the payment, and counts its version on. */
async function write(tx: Tx, { before, after, entries, at }: Change): Promise<PaymentWithAttempts> {
  const { id } = before.payment
  const attempts = await writeAttempts(tx, { before, after, at })
  const sales = after.sales.filter((sale) => isNewOrChanged(before.sales, sale))
  for (const sale of sales) await writeSale(tx, sale, { paymentId: id, at })
  const isChanged = sales.length > 0 || attempts.isChanged || isPaymentChanged(before.payment, after.payment)
  if (!isChanged) {
    await insertNotes(tx, { paymentId: id, notes: entries.notes, at })
    return before
  }
  await writePayment(tx, { before: before.payment, after: after.payment, entries, at })
  const version = before.payment.version + 1
  const written = { ...after, attempts: attempts.written, payment: { ...after.payment, version, updatedAt: at } }
  const booking = bookingBetween(before, written, kindOf(entries))
  // The version names the change: one that has booked must have changed the payment.
  if (booking !== null && !(await book(tx, booking, at))) throw new Error(`${booking.reference} was booked before`)
  return written
}

export const kindOf = ({ moves, notes }: ChangeEntries): string =>
  (moves.at(-1)?.note ?? notes[0])?.kind ?? 'payment.changed'

function isNewOrChanged(known: readonly StoredSale[], sale: StoredSale): boolean {
  const before = known.find(({ number }) => number === sale.number)
  return before === undefined || before.state !== sale.state || before.fill !== sale.fill
}

async function writeAttempts(
  tx: Tx,
  { before, after, at }: Omit<Change, 'entries'>,
): Promise<{ readonly written: readonly Attempt[]; readonly isChanged: boolean }> {
  let isChanged = false
  const written: Attempt[] = []
  for (const attempt of after.attempts) {
    const known = before.attempts.find(({ id }) => id === attempt.id)
    if (known === undefined) await insertAttempt(tx, attempt)
    const from = known ?? createdAttempt(attempt.paymentId, attempt, attempt.createdAt)
    const isWritten = isAttemptChanged(from, attempt)
    const next = isWritten ? { ...attempt, revision: from.revision + 1, updatedAt: at } : attempt
    if (isWritten) await writeAttempt(tx, { before: from, after: next })
    isChanged ||= isWritten || known === undefined
    written.push(next)
  }
  return { written, isChanged }
}

/** The events of the states that were entered, and of money that was lost or won back after the payout. */
export function listEvents(
  { publicUrl }: ChangeContext,
  { before, after, entries: { moves }, at }: Change,
): NewEvent[] {
  const { id, merchantId, livemode } = after.payment
  const object = renderPayment(after.payment, after.attempts, publicUrl)
  const event = (type: NewEvent['type'], about: object): NewEvent => ({
    type,
    object: about,
    merchantId,
    livemode,
    paymentId: id,
    at,
  })
  const entered = moves.flatMap(({ to }) => {
    const type = `payment.${to}`
    return isWebhookEventType(type) ? [event(type, { ...object, status: to })] : []
  })
  const lost = isClosed(after.payment.status)
    ? listLossChanges(before, after).map((change) =>
        event(change.units > 0n ? 'payment.chargeback' : 'payment.chargeback_won', {
          ...object,
          chargeback: renderChargeback(change),
        }),
      )
    : []
  return [...entered, ...lost]
}
