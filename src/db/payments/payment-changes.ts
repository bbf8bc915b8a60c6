import { type Cause, type ChangeEntries, describeChange, listLossChanges } from '../../domain/payment/change-entries.ts'
import { derive, endIfGivenBack } from '../../domain/payment/derived.ts'
import type { Funds } from '../../domain/payment/funds/funds.ts'
import { findMoneyStep } from '../../domain/payment/funds/money-step.ts'
import { advanceFunds, createBooking, toFunds, withFunds } from '../../domain/payment/funds/stored-funds.ts'
import { isClosed, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Attempt, Derived, Payment, PaymentWithAttempts, StoredSale } from '../../domain/payment/payment-object.ts'
import { renderChargeback, renderPayment } from '../../domain/payment/payment-object.ts'
import { canBeExtended, EXTENSION_MS } from '../../domain/payment/requests.ts'
import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import { createNote, type Note } from '../../domain/timeline.ts'
import { isWebhookEventType } from '../../domain/webhook.ts'
import type { Queryable, Statement, Tx } from '../db.ts'
import { completeLinks, lockLinks } from '../links/completed.ts'
import { eventRow, type NewEvent, recordEvents } from '../webhooks/events.ts'
import {
  createdAttempt,
  isAttemptChanged,
  isPaymentChanged,
  listChangedAttempts,
  listChangedSales,
  type NewAttempt,
  type PaymentWrite,
  writeParts,
  writePayments,
} from './payment-writes.ts'
import { loadPayment, lockPayment } from './payments.ts'

export type ChangeContext = {
  readonly publicUrl: string
  readonly now: () => number
  /** Receives the id of each payment after the commit of its change. */
  readonly changed?: (paymentId: string) => void
}

export type Written = { readonly state: PaymentWithAttempts; readonly events: readonly string[] }

export const answerWith = ({ state, events }: Written): ActivityAnswer => ({ payment: toSnapshot(state), events })

export const unchanged = (state: PaymentWithAttempts): ActivityAnswer => answerWith({ state, events: [] })

/** The facts of a payment: everything else about it is computed from them. */
export type PaymentFacts = Partial<Omit<Payment, keyof Derived | 'id' | 'version' | 'updatedAt' | 'closedAt'>>

/** The ways to change a payment. The changes are written at the end, with everything that follows from them. */
export type PaymentWork = {
  readonly state: PaymentWithAttempts
  readonly at: string
  readonly set: (facts: PaymentFacts) => void
  readonly setFunds: (funds: Funds) => void
  readonly setAttempt: (attemptId: string, facts: Partial<Attempt>) => void
  readonly setSale: (sale: StoredSale) => void
  /** Adds an attempt, which must be committed before the partner is asked. A second call changes nothing. */
  readonly addAttempt: (attempt: NewAttempt) => void
  /** Takes each step that needs no other party, so that the work sees the result. It is done at the end anyway. */
  readonly advance: () => void
  /** Names the cause of the change, if it does not follow from the change itself. */
  readonly because: (cause: Cause) => void
  readonly note: (note: Note) => void
  /** Runs this statement with the change, or alone. It writes only if the part `done` has a row. */
  readonly also: (part: Statement) => void
}

export type Work = (payment: PaymentWork) => void

export type LockedWork = (payment: PaymentWork, tx: Tx) => Promise<void>

/**
 * Reads the payment, lets `work` change it, and writes all of it in one statement. If the payment was changed since it
 * was read, it is read again, so `work` can run more than once. `known`: the payment as it was read a moment ago.
 */
export async function changePayment(
  db: Queryable,
  context: ChangeContext,
  { id, work, known }: { readonly id: string; readonly work: Work; readonly known?: PaymentWithAttempts },
): Promise<Written> {
  let before = known ?? (await loadPayment(db, id))
  for (;;) {
    const draft = openDraft(before, context)
    work(draft.work)
    const write = draft.finish()
    if (write === null) {
      if (await writeParts(db, before.payment, draft.parts)) return { state: before, events: [] }
    } else {
      const eventIds = await writePayments(db, [write], draft)
      if (eventIds !== null) {
        context.changed?.(id)
        return { state: write.after, events: eventIds }
      }
    }
    before = await loadPayment(db, id)
  }
}

/** It stays locked until the transaction ends. */
export async function changePaymentIn(
  tx: Tx,
  context: ChangeContext,
  { id, work }: { readonly id: string; readonly work: LockedWork },
): Promise<Written> {
  const draft = openDraft(await lockPayment(tx, id), context)
  await work(draft.work, tx)
  const [written] = await writeDrafts(tx, context, [draft])
  return written as Written
}

/** With as many statements as for one. */
export function changePaymentsIn(
  tx: Tx,
  context: ChangeContext,
  changes: readonly { readonly before: PaymentWithAttempts; readonly work: Work }[],
): Promise<readonly Written[]> {
  const at = stampNow(context)
  const drafts = changes.map(({ before, work }) => {
    const draft = openDraft(before, context, at)
    work(draft.work)
    return draft
  })
  return writeDrafts(tx, context, drafts)
}

/** Throws if a payment was written without its lock: that is a bug. */
async function writeDrafts(tx: Tx, context: ChangeContext, drafts: readonly Draft[]): Promise<readonly Written[]> {
  const finished = drafts.map((draft) => ({ before: draft.before, write: draft.finish() }))
  const writes = finished.flatMap(({ write }) => write ?? [])
  const parts = drafts.flatMap((draft) => draft.parts)
  const [first] = writes
  if (first === undefined) {
    const [draft] = drafts
    const isWritten = draft === undefined || (await writeParts(tx, draft.before.payment, parts))
    if (!isWritten) throw new Error('a payment has changed without its lock')
    return finished.map(({ before: state }) => ({ state, events: [] }))
  }
  const paid = writes.filter(({ entries }) => entries.moves.some(({ to }) => to === 'succeeded'))
  const payments = paid.map(({ after }) => after.payment)
  await lockLinks(tx, payments)
  const at = first.after.payment.updatedAt
  const eventIds = await writePayments(tx, writes, { at, parts })
  if (eventIds === null) throw new Error(`some of ${writes.length} payments have changed without their lock`)
  tx.afterCommit(() => writes.forEach(({ after }) => context.changed?.(after.payment.id)))
  const completed = await completeLinks(tx, { publicUrl: context.publicUrl, at }, payments)
  const ofLinks = await recordEvents(tx, completed)
  return finished.map(({ before, write }) => {
    if (write === null) return { state: before, events: [] }
    const own = write.events.flatMap(({ id }) => (eventIds.includes(id) ? id : []))
    const link = completed.flatMap(({ paymentId }, place) =>
      paymentId === before.payment.id ? (ofLinks[place] ?? []) : [],
    )
    return { state: write.after, events: [...own, ...link] }
  })
}

/** Once. False if it can no longer be extended: it has closed, or was extended before. */
export async function extendPayment(db: Queryable, context: ChangeContext, id: string): Promise<boolean> {
  let isExtended = false
  const work: Work = ({ state: { payment }, note, set }) => {
    isExtended = canBeExtended(payment, context.now())
    if (!isExtended) return
    const expiresAt = new Date(Date.parse(payment.expiresAt) + EXTENSION_MS).toISOString()
    note(createNote('payment.expiry_extended', { expires_at: expiresAt }))
    set({ expiresAt, expiryExtended: true })
  }
  await changePayment(db, context, { id, work })
  return isExtended
}

export function complete(changed: PaymentWithAttempts, at: string): PaymentWithAttempts {
  const state = derive(endIfGivenBack(advanceFunds(changed)), at)
  const isDone = findMoneyStep(toFunds(state)).do === 'done'
  const { payment } = state
  // The payment waits for nothing, so the relay need not check its workflow. Late money opens it again.
  const closedAt = isDone ? (payment.closedAt ?? at) : null
  return { ...state, payment: { ...payment, closedAt, ...enteredAt(changed.payment.status, payment, at) } }
}

function enteredAt(before: PaymentStatus, { status }: Payment, at: string): Partial<Payment> {
  if (status === before) return {}
  if (status === 'succeeded') return { succeededAt: at }
  if (status === 'failed') return { failedAt: at }
  return status === 'canceled' ? { canceledAt: at } : {}
}

type Draft = {
  readonly before: PaymentWithAttempts
  readonly at: string
  readonly work: PaymentWork
  readonly parts: readonly Statement[]
  /** Null: nothing has changed. */
  readonly finish: () => PaymentWrite | null
}

const stampNow = ({ now }: ChangeContext): string => new Date(now()).toISOString()

/** Collects the changes of a payment until they are written. Changes that are written together have the same time. */
function openDraft(before: PaymentWithAttempts, context: ChangeContext, at = stampNow(context)): Draft {
  let state = before
  let cause: Cause | null = null
  const notes: Note[] = []
  const parts: Statement[] = []
  const setAttempts = (attempts: readonly Attempt[]) => void (state = { ...state, attempts })
  const work: PaymentWork = {
    get state() {
      return state
    },
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
    advance: () => void (state = advanceFunds(state)),
    because: (given) => void (cause = given),
    note: (note) => void notes.push(note),
    also: (part) => void parts.push(part),
  }
  return {
    before,
    at,
    work,
    parts,
    finish: () => finish(context, { before, changed: complete(state, at), cause, notes, at }),
  }
}

type Finishing = {
  readonly before: PaymentWithAttempts
  readonly changed: PaymentWithAttempts
  readonly cause: Cause | null
  readonly notes: readonly Note[]
  readonly at: string
}

/** Any change is a change of the payment, and increments its version. */
function finish(context: ChangeContext, { before, changed, cause, notes, at }: Finishing): PaymentWrite | null {
  const attempts = changed.attempts.map((attempt) => countRevision(before, attempt, at))
  const isChanged =
    notes.length > 0 ||
    isPaymentChanged(before.payment, changed.payment) ||
    listChangedSales(before, changed).length > 0 ||
    listChangedAttempts(before, { attempts }).length > 0
  if (!isChanged) return null
  const version = before.payment.version + 1
  const after = { ...changed, attempts, payment: { ...changed.payment, version, updatedAt: at } }
  const described = describeChange(before, after, cause)
  const noted = new Set(notes.map(({ kind }) => kind))
  const entries = { ...described, notes: [...notes, ...described.notes.filter(({ kind }) => !noted.has(kind))] }
  const booking = createBooking(before, after, nameKind(entries))
  return {
    before,
    after,
    entries,
    booking,
    events: listEvents(context, { before, after, entries, at }).map((event) => eventRow(event)),
  }
}

function countRevision(before: PaymentWithAttempts, attempt: Attempt, at: string): Attempt {
  const known = before.attempts.find(({ id }) => id === attempt.id)
  const isChanged = known !== undefined && isAttemptChanged(known, attempt)
  return isChanged ? { ...attempt, revision: known.revision + 1, updatedAt: at } : attempt
}

const nameKind = ({ moves, notes }: ChangeEntries): string =>
  (moves.at(-1)?.note ?? notes[0])?.kind ?? 'payment.changed'

type WrittenChange = Pick<PaymentWrite, 'before' | 'after' | 'entries'> & { readonly at: string }

/** Lists the events of the entered statuses, and of money that was lost or won back after the payout. */
function listEvents(
  { publicUrl }: ChangeContext,
  { before, after, entries: { moves }, at }: WrittenChange,
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
