import type { Queryable, Tx } from '../db/db.ts'
import { bookAll } from '../db/ledger.ts'
import { lockLinks } from '../db/links/completed-links.ts'
import { changeMessages } from '../db/outbox.ts'
import { writePayments } from '../db/payments/payment-writes.ts'
import { loadPayment, lockPayments } from '../db/payments/payments.ts'
import { wakePendingRefunds } from '../db/refunds/refunds.ts'
import { eventRow } from '../db/webhooks/events.ts'
import { decideChange, type PaymentChange } from '../domain/payment/change.ts'
import type { Payment, PaymentWithAttempts } from '../domain/payment/payment-object.ts'
import { listLinkIds, recordCompletedLinks } from './completed-links.ts'
import { type Drafted, type LockedDraft, openDraft, type PaymentDraft } from './payment-draft.ts'
import { recordDisputes } from './record-disputes.ts'

/**
 * The only way to change a payment: it is read, `change` drafts new facts, the domain decides what follows from them,
 * and all of it is written in one statement, which writes nothing if the payment has another version than was read.
 */

export type ChangeContext = {
  readonly publicUrl: string
  /** Unix milliseconds. */
  readonly now: () => number
  /** Receives the id of each payment after the commit of its change. */
  readonly onChanged?: (paymentId: string) => void
}

export type Change = (draft: PaymentDraft) => void

/** The payment after a change, and the change's events with subscribers. */
export type ChangedPayment = { readonly state: PaymentWithAttempts; readonly events: readonly string[] }

/** Nothing was written: a condition of the change is not true now. */
export class ConditionNotMet extends Error {
  override readonly name = 'ConditionNotMet'
}

/** Thrown before anything is written: something else must be written in the same transaction. */
export class NeedsTransaction extends Error {
  override readonly name = 'NeedsTransaction'
}

/**
 * Changes a payment in a transaction of one statement. If it was changed since it was read, it is read again: `change`
 * can run more than once. `known`: the payment as it was read a moment ago.
 */
export async function changePayment(
  db: Queryable,
  context: ChangeContext,
  { id, change, known }: { readonly id: string; readonly change: Change; readonly known?: PaymentWithAttempts },
): Promise<ChangedPayment> {
  let before = known ?? (await loadPayment(db, id))
  for (;;) {
    const { draft, close } = openDraft(before, getTime(context))
    change(draft)
    const decided = decide(context, close())
    if (decided.drafted.disputes.length > 0) throw new NeedsTransaction()
    if (isSucceeding(decided)) throw new Error(`${id} can succeed only in a larger transaction`)
    const written = await write(db, [decided])
    if (written !== null) {
      if (decided.change !== null) context.onChanged?.(id)
      return written[0] as ChangedPayment
    }
    const { version } = before.payment
    before = await loadPayment(db, id)
    // Nobody else has changed it, so the version was not what kept it from being written.
    if (before.payment.version === version) throw new ConditionNotMet()
  }
}

export type LockedChange = (draft: LockedDraft, tx: Tx) => void | Promise<void>

/** Changes a payment in a larger transaction. It stays locked until the transaction ends. */
export async function changeLockedPayment(
  tx: Tx,
  context: ChangeContext,
  { id, change }: { readonly id: string; readonly change: LockedChange },
): Promise<ChangedPayment> {
  const [changed] = await changeLockedPayments(tx, context, [{ id, change }])
  return changed as ChangedPayment
}

/** Changes payments with as many statements as one payment needs. Several changes of a payment become one. */
export async function changeLockedPayments(
  tx: Tx,
  context: ChangeContext,
  changes: readonly { readonly id: string; readonly change: LockedChange }[],
): Promise<readonly ChangedPayment[]> {
  const ids = [...new Set(changes.map(({ id }) => id))]
  const locked = await lockPayments(tx, ids)
  const at = getTime(context)
  const decided: Decided[] = []
  for (const id of ids) {
    const { draft, close } = openDraft(locked.get(id) as PaymentWithAttempts, at)
    for (const each of changes) if (each.id === id) await each.change(draft, tx)
    decided.push(decide(context, close()))
  }
  return writeLocked(tx, context, { at, decided })
}

/** Throws if a payment was written without its lock: that is a bug. */
async function writeLocked(
  tx: Tx,
  context: ChangeContext,
  { at, decided }: { readonly at: string; readonly decided: readonly Decided[] },
): Promise<readonly ChangedPayment[]> {
  const succeeded = decided.flatMap((each) => (isSucceeding(each) ? each.change.after.payment : []))
  const links = { ids: listLinkIds(succeeded), at, publicUrl: context.publicUrl }
  await lockLinks(tx, links.ids)
  const bookings = decided.flatMap(({ drafted }) => drafted.bookings)
  await bookAll(tx, bookings, at)
  const written = await write(tx, decided)
  if (written === null) throw new Error('a payment was changed without its lock')
  tx.afterCommit(() => {
    for (const { change } of decided) if (change !== null) context.onChanged?.(change.after.payment.id)
  })
  await recordCompletedLinks(tx, links, succeeded)
  const recorded: ChangedPayment[] = []
  for (const [place, { drafted }] of decided.entries()) {
    const { state, events } = written[place] as ChangedPayment
    recorded.push({ state, events: [...events, ...(await recordDisputes(tx, state, drafted))] })
  }
  return recorded
}

type Decided = { readonly drafted: Drafted; readonly change: PaymentChange | null }

const decide = ({ publicUrl }: ChangeContext, drafted: Drafted): Decided => ({
  drafted,
  change: decideChange(drafted.before, drafted, { at: drafted.at, publicUrl }),
})

const isSucceeding = (decided: Decided): decided is Decided & { readonly change: PaymentChange } =>
  decided.change?.entries.moves.some(({ to }) => to === 'succeeded') ?? false

/** Null, and nothing is written, if a payment has another version than was read, or a condition is not true. */
async function write(db: Queryable, decided: readonly Decided[]): Promise<readonly ChangedPayment[] | null> {
  const relayed = decided.flatMap(({ drafted: { before, isRelayed } }) => (isRelayed ? before.payment.id : []))
  const statements = [
    ...decided.flatMap(({ drafted }) => drafted.statements),
    ...(relayed.length > 0 ? [changeMessages(relayed)] : []),
    ...decided.flatMap(({ change }) => (change === null ? [] : listEndedGiveBacks(change).map(wakePendingRefunds))),
  ]
  const changes = decided.flatMap(({ change }) => (change === null ? [] : [addEventRows(change)]))
  const conditions = decided.flatMap(({ drafted }) => drafted.conditions)
  const [first] = decided
  if (first === undefined || (changes.length === 0 && statements.length === 0))
    return decided.map(({ drafted }) => ({ state: drafted.before, events: [] }))
  const unchanged = decided.flatMap(({ drafted, change }) => (change === null ? getVersion(drafted.before) : []))
  const eventIds = await writePayments(db, { changes, unchanged, statements, conditions, at: first.drafted.at })
  if (eventIds === null) return null
  return decided.map(({ drafted: { before } }) => {
    const written = changes.find((change) => change.before === before)
    const events = (written?.events ?? []).flatMap(({ id }) => (eventIds.includes(id) ? id : []))
    return { state: written?.after ?? before, events }
  })
}

/** The attempts whose give-back has ended with the change: a refund of the merchant can wait for it. */
const listEndedGiveBacks = ({ before, attempts }: PaymentChange): string[] =>
  attempts.flatMap(({ id, back, returned }) => {
    const known = before.attempts.find((attempt) => attempt.id === id)
    const hasEnded = known !== undefined && ((known.back !== 'no' && back === 'no') || known.returned !== returned)
    return hasEnded ? id : []
  })

function addEventRows(change: PaymentChange) {
  const { id: paymentId, merchantId, livemode, updatedAt: at } = change.after.payment
  return {
    ...change,
    events: change.events.map((event) => eventRow({ ...event, paymentId, merchantId, livemode, at })),
  }
}

const getVersion = ({ payment: { id, version } }: PaymentWithAttempts): Pick<Payment, 'id' | 'version'> => ({
  id,
  version,
})

const getTime = ({ now }: ChangeContext): string => new Date(now()).toISOString()
