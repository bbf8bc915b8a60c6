import type { Booking } from '../../domain/ledger.ts'
import { type AttemptFields, exceptionAtEnd, NOT_PARKED, type PaymentFields } from '../../domain/payment/changes.ts'
import { bookingBetween, dueSale } from '../../domain/payment/funds/stored-funds.ts'
import type { Incident, Intent } from '../../domain/payment/money/intents.ts'
import { type Part, type PartState, putBack, restated } from '../../domain/payment/money/parts.ts'
import { dustOf } from '../../domain/payment/order-changes.ts'
import { canMove, isClosed, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Payment, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { renderPayment } from '../../domain/payment/payment-object.ts'
import { EXTENSION_MS, mayBeExtended } from '../../domain/payment/requests.ts'
import { nextStep, type PaymentSnapshot, snapshotOf } from '../../domain/payment/snapshot.ts'
import { because, moveNote, type Note, noteOf, type Reason } from '../../domain/timeline.ts'
import { isWebhookEventType, type WebhookEventType } from '../../domain/webhook.ts'
import { type Db, execute, sql, type Tx } from '../db.ts'
import { book } from '../ledger.ts'
import { completeLinks } from '../links/completed.ts'
import { putOutbox } from '../outbox.ts'
import { type NewEvent, recordEvents } from '../webhooks/events.ts'
import {
  closeIncident,
  insertIncident,
  insertIntent,
  insertPart,
  type NewIntent,
  putBackParts,
  restateParts,
  writeIntent,
  writeSale,
} from './money/money-writes.ts'
import { insertAttempt, type NewAttempt, type PaymentWrite, writeAttempt, writePayment } from './payment-writes.ts'
import { lockPayment } from './payments.ts'
import { insertNote } from './timeline.ts'

/** What every change needs to know of its surroundings. */
export type ChangeContext = {
  readonly publicUrl: string
  readonly now: () => number
  /** Told the id of each payment when its change has been committed. */
  readonly changed?: (paymentId: string) => void
}

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
  /** Books a fact of the chain. The payment's own books follow from its funds, at the end of the change. */
  book(booking: Booking): Promise<boolean>
  /** Stores a fact about money. False when it is known already. */
  addPart(part: Part): Promise<boolean>
  /** Stores a sale, or what became of it. */
  saveSale(sale: StoredSale): Promise<void>
  /** Gives the parts of an attempt in these states another owner. */
  restate(attemptId: string, change: { from: readonly PartState[]; to: PartState }): Promise<void>
  /** The parts of the attempt that were on their way back are where they were. */
  putBack(attemptId: string): Promise<void>
  /** Stores what another party must carry out, before it is asked. Null: it is open, or was carried out. */
  ask(intent: NewIntent): Promise<Intent | null>
  /** How far it is; null: it is none of the payment's open ones. */
  settleIntent(intent: Intent, state: 'pending' | 'done' | 'refused'): Promise<void>
  /**
   * Nothing, where it is a misfit of which the partner says what it said before. Of the own money of a payment that has not
   * ended it is heard each time: it puts the money in doubt, or nothing can be decided until it is acknowledged.
   */
  openIncident(incident: Incident): Promise<void>
  /** `gone`: not by an operator, but because there is nothing left to look at. */
  closeIncident(incident: Incident, why?: 'gone'): Promise<void>
}

/** Locks the payment, lets `work` change it, writes the events last, and answers what is true afterwards. */
export function changePayment(
  db: Db,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  return db.transaction((tx) => changePaymentIn(tx, context, { id, work }))
}

/**
 * Moves the end of a payment that is about to expire, once. False where it may not be moved: it has closed meanwhile, or
 * was extended before.
 */
export async function extendPayment(tx: Tx, context: ChangeContext, id: string): Promise<boolean> {
  let isExtended = false
  const extend = async (work: PaymentWork): Promise<void> => {
    const { payment } = work.state
    if (!mayBeExtended(payment, context.now())) return
    const expiresAt = new Date(Date.parse(payment.expiresAt) + EXTENSION_MS).toISOString()
    const note = noteOf('payment.expiry_extended', { expires_at: expiresAt })
    await work.change(note, { expiresAt, expiryExtended: true })
    isExtended = true
  }
  await changePaymentIn(tx, context, { id, work: extend })
  return isExtended
}

/** The partner has the money back and nothing can be paid out any more: what was bought is ours, and the payment is over. */
export async function endAsGivenBack(work: PaymentWork): Promise<void> {
  await work.move('refunded', because('given_back_by_partner'), NOT_PARKED)
}

/**
 * Nobody has to look any more at money of this attempt that fitted no order. `gone`: the partner says that it is not there
 * any more, or it fits by now; coming once more, it is new. Another token at our own address goes by an operator alone.
 */
export async function closeMisfit(work: PaymentWork, attemptId: string, why?: 'gone'): Promise<void> {
  const open = work.state.incidents.find((one) => one.kind === 'misfit' && one.attemptId === attemptId)
  const isToken = (open?.misfit ?? null) === null
  if (open !== undefined && !(isToken && why === 'gone')) await work.closeIncident(open, why)
}

/** The payment's money is another attempt's: what was counted of this one is a second payment, for an operator. */
export async function setBeside(work: PaymentWork, attemptId: string): Promise<void> {
  await work.restate(attemptId, { from: ['counted'], to: 'surplus' })
  await work.saveAttempt(attemptId, { status: 'surplus' })
}

/** Changes a payment inside a transaction that does more, such as marking a payout settled. */
export async function changePaymentIn(
  tx: Tx,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  let state: PaymentWithAttempts = await lockPayment(tx, id)
  const before = state
  const at = new Date(context.now()).toISOString()
  const announced: { type: WebhookEventType; object: object }[] = []
  let kind = 'payment.changed'
  const written = async (change: Omit<PaymentWrite, 'payment' | 'at'>): Promise<void> => {
    kind = change.note.kind
    state = { ...state, payment: await writePayment(tx, { ...change, payment: state.payment, at }) }
  }

  const announce = (type: WebhookEventType) =>
    announced.push({ type, object: renderPayment(state.payment, state.attempts, context.publicUrl) })
  const money = moneyWork(tx, { id, at, read: () => state, write: (next) => (state = next) })

  await work({
    get state() {
      return state
    },
    tx,
    at,
    move: async (to, reason, fields = {}) => {
      const from = state.payment.status
      if (!canMove(from, to)) throw new Error(`payment ${id}: no transition from ${from} to ${to}`)
      const { exception } = state.payment
      const left = isClosed(to) ? exceptionAtEnd(exception) : exception
      const isOver = left === exception ? {} : { exception: left }
      await written({ to, note: moveNote(to, reason), fields: { ...isOver, ...fields } })
      const type = `payment.${to}`
      if (isWebhookEventType(type)) announce(type)
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
    ...money,
    openIncident: async (incident) => {
      await money.openIncident(incident)
      if (incident.kind === 'chargeback') announce('payment.chargeback')
    },
  })

  const isDone = nextStep(snapshotOf(state)) === 'done'
  if (isDone) for (const dust of dustOf(state)) await money.addPart(dust)
  const sale = dueSale(state)
  if (sale !== null) await money.saveSale(sale)
  const booking = bookingBetween(before, state, kind)
  // The version names the change: one that has booked must have changed the payment.
  if (booking !== null && !(await book(tx, booking, at))) throw new Error(`${booking.reference} was booked before`)
  await markClosed(tx, state.payment, { isDone, at })
  tx.afterCommit(() => context.changed?.(id))
  const { merchantId, livemode } = state.payment
  const news: NewEvent[] = announced.map((told) => ({ ...told, merchantId, livemode, paymentId: id, at }))
  const isPaid = announced.some(({ type }) => type === 'payment.succeeded')
  const completed = isPaid ? await completeLinks(tx, { publicUrl: context.publicUrl, at }, [state.payment]) : []
  const events = (await recordEvents(tx, [...news, ...completed])).flatMap((eventId) => eventId ?? [])
  return { payment: snapshotOf(state), events }
}

type MoneyWork = Pick<
  PaymentWork,
  'addPart' | 'saveSale' | 'restate' | 'putBack' | 'ask' | 'settleIntent' | 'openIncident' | 'closeIncident'
>

/** What is done to the money of a locked payment, in the rows and in what is known of them. */
function moneyWork(
  tx: Tx,
  locked: {
    readonly id: string
    readonly at: string
    readonly read: () => PaymentWithAttempts
    readonly write: (state: PaymentWithAttempts) => void
  },
): MoneyWork {
  const where = { paymentId: locked.id, at: locked.at }
  const { read, write } = locked
  return {
    addPart: async (part) => {
      const isNew = await insertPart(tx, part, where)
      if (isNew) write({ ...read(), parts: [...read().parts, part] })
      return isNew
    },
    saveSale: async (sale) => {
      await writeSale(tx, sale, where)
      const others = read().sales.filter(({ number }) => number !== sale.number)
      write({ ...read(), sales: [...others, sale].toSorted((a, b) => a.number - b.number) })
    },
    restate: async (attemptId, change) => {
      await restateParts(tx, attemptId, change)
      write({ ...read(), parts: restated(read().parts, attemptId, change) })
    },
    putBack: async (attemptId) => {
      await putBackParts(tx, attemptId)
      write({ ...read(), parts: putBack(read().parts, attemptId) })
    },
    ask: async (intent) => {
      const asked = await insertIntent(tx, intent, where)
      if (asked !== null) write({ ...read(), intents: [...read().intents, asked] })
      return asked
    },
    settleIntent: async ({ key }, state) => {
      await writeIntent(tx, { key, state })
      const intents = read().intents.flatMap((intent) => {
        if (intent.key !== key) return [intent]
        return state === 'pending' ? [{ ...intent, state }] : []
      })
      write({ ...read(), intents })
    },
    openIncident: async (incident) => {
      const { status, paidAttemptId } = read().payment
      const isOwn = incident.misfit != null && incident.attemptId !== null && incident.attemptId === paidAttemptId
      if (await insertIncident(tx, incident, { ...where, isAlwaysHeard: isOwn && !isClosed(status) }))
        write(withIncidents(read(), { without: incident, more: [incident] }))
    },
    closeIncident: async (incident, why) => {
      if (!(await closeIncident(tx, incident, { ...where, isGone: why === 'gone' }))) return
      write(withIncidents(read(), { without: incident, more: [] }))
      const { status, listenEnded } = read().payment
      // Perhaps by the workflow of late money: the payment's own waits for a person because of it.
      if (listenEnded && isClosed(status))
        await putOutbox(tx, 'complete_transfer', [{ subject: locked.id, payload: { events: [] } }])
    },
  }
}

/** The state after an incident was written, which has changed the payment. */
function withIncidents(
  state: PaymentWithAttempts,
  { without, more }: { readonly without: Incident; readonly more: readonly Incident[] },
): PaymentWithAttempts {
  const { payment, incidents } = state
  const isIt = ({ kind, attemptId }: Incident) => kind === without.kind && attemptId === without.attemptId
  // What is said of it anew keeps its place: the first one is what an approval deals with.
  const isOpen = incidents.some(isIt)
  const others = incidents.flatMap((one) => (isIt(one) ? more : [one]))
  const now = isOpen ? others : [...others, ...more]
  return { ...state, payment: { ...payment, version: payment.version + 1 }, incidents: now }
}

/** Nothing left to wait for: the relay need not look for its workflow any more. Reopened by late money. */
async function markClosed(
  tx: Tx,
  { id, closedAt }: Payment,
  { isDone, at }: { readonly isDone: boolean; readonly at: string },
): Promise<void> {
  if (isDone === (closedAt !== null)) return
  const when = isDone ? sql`${at}::timestamptz` : sql`null`
  await execute(tx, sql`update payment set closed_at = ${when} where id = ${id}`)
}
