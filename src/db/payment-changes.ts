import type { Booking } from '../domain/ledger.ts'
import type { AttemptStatus, ParkReason, PaymentException, PaymentStatus } from '../domain/payment.ts'
import { canMove, sourcesOf } from '../domain/payment.ts'
import { type Attempt, type Payment, renderPayment } from '../domain/payment-object.ts'
import { nextStep, type PaymentSnapshot } from '../domain/snapshot.ts'
import { isWebhookEventType } from '../domain/webhook.ts'
import { type Db, execute, maybeOne, one, type Statement, sql, type Tx } from './db.ts'
import { recordEvent } from './events.ts'
import { book } from './ledger.ts'
import { attemptRow, paymentRow } from './payment-rows.ts'
import { lockPayment, type PaymentWithAttempts, snapshotOf } from './payments.ts'

/** Who did it, as the timeline says. */
export type Actor = 'merchant' | 'buyer' | 'partner' | 'system' | 'operator'

export type Note = { readonly kind: string; readonly actor: Actor; readonly message: string; readonly data?: object }

/** What every change needs to know of its surroundings. */
export type ChangeContext = { readonly publicUrl: string; readonly now: () => number }

/** What a change answers: the payment afterwards, and the events that somebody subscribes to. */
export type Changed = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

/** The hand on a locked payment: each call writes at once, in the transaction that holds the lock. */
export type PaymentWork = {
  readonly state: PaymentWithAttempts
  readonly tx: Tx
  readonly at: string
  /** Along the transition table, by compare-and-set, with its timeline entry. Sources that are not listed are a bug. */
  move(to: PaymentStatus, note: Note, fields?: PaymentFields): Promise<void>
  /** Changes fields without a transition, with a timeline entry. */
  change(note: Note, fields: PaymentFields): Promise<void>
  note(note: Note): Promise<void>
  /** The row that is committed before the partner is asked; a second time it changes nothing. */
  addAttempt(attempt: Pick<Attempt, 'id' | 'provider' | 'method' | 'asked'>): Promise<void>
  saveAttempt(attemptId: string, fields: AttemptFields): Promise<void>
  book(booking: Booking): Promise<boolean>
}

/** The columns that a change may write, with their new values. Absent means unchanged. */
export type PaymentFields = {
  statusReason?: string | null
  exception?: PaymentException | null
  parkReason?: ParkReason | null
  held?: boolean
  expiryPostponed?: boolean
  listenEnded?: boolean
  providerUsed?: string | null
  methodUsed?: string | null
  paidAttemptId?: string | null
  chargeCurrency?: string | null
  confirmedMinor?: string | null
  rate?: string | null
  rateSource?: string | null
  rateLockedAt?: string | null
  grossMicro?: string
  feeMicro?: string
  netMicro?: string
  txHash?: string
  logIndex?: number
  blockNumber?: string
  finalizedAt?: string
  expiresAt?: string
  paidAt?: string | null
}

export type AttemptFields = {
  status?: AttemptStatus
  partnerReference?: string
  redirectUrl?: string | null
  intentUri?: string | null
  receivedMinor?: string | null
  failureCode?: string | null
}

/** When a state is entered, this column says since when. */
const ENTERED: Partial<Record<PaymentStatus, string>> = {
  succeeded: 'succeeded_at',
  failed: 'failed_at',
  canceled: 'canceled_at',
}

/** Locks the payment, lets `work` change it, writes the events last, and answers with what is true afterwards. */
export function changePayment(
  db: Db,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  return db.transaction((tx) => changePaymentIn(tx, context, { id, work }))
}

/** The same inside a transaction that does more, such as marking a payout settled. */
export async function changePaymentIn(
  tx: Tx,
  context: ChangeContext,
  { id, work }: { id: string; work: (payment: PaymentWork) => Promise<void> },
): Promise<Changed> {
  let state = await lockPayment(tx, id)
  const at = new Date(context.now()).toISOString()
  const announced: { type: string; object: object }[] = []

  await work({
    get state() {
      return state
    },
    tx,
    at,
    move: async (to, note, fields = {}) => {
      const from = state.payment.status
      if (!canMove(from, to)) throw new Error(`payment ${id}: no transition from ${from} to ${to}`)
      const entered = ENTERED[to]
      const extra = entered === undefined ? sql`` : { text: `, ${entered} = $1::timestamptz`, values: [at] }
      state = { ...state, payment: await write({ to, note, assign: sql`${assignments(fields)}${extra}` }) }
      const type = `payment.${to}`
      if (isWebhookEventType(type))
        announced.push({ type, object: renderPayment(state.payment, state.attempts, context.publicUrl) })
    },
    change: async (note, fields) => {
      state = { ...state, payment: await write({ to: null, note, assign: assignments(fields) }) }
    },
    note: (note) => insertNote(note),
    addAttempt: async ({ id: attemptId, provider, method, asked }) => {
      const added = await maybeOne(
        tx,
        attemptRow,
        sql`insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, created_at, updated_at)
            values (${attemptId}, ${id}, ${provider}, ${method}, 'opening', ${asked.minor}, ${asked.currency},
                    ${at}::timestamptz, ${at}::timestamptz)
            on conflict (id) do nothing returning *`,
      )
      if (added !== null) state = { ...state, attempts: [...state.attempts, added] }
    },
    saveAttempt: async (attemptId, fields) => {
      const attempt = await one(
        tx,
        attemptRow,
        sql`update attempt set updated_at = ${at}::timestamptz ${assignments(fields)} where id = ${attemptId} returning *`,
      )
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

  /** Row and timeline entry in one statement; no row means that somebody wrote without the lock. */
  async function write(change: { to: PaymentStatus | null; note: Note; assign: Statement }): Promise<Payment> {
    const { to, note, assign } = change
    const from = state.payment.status
    const status = to === null ? sql`` : sql`, status = ${to}`
    const guard = to === null ? sql`` : sql`and status = any(${sourcesOf(to)})`
    return one(
      tx,
      paymentRow,
      sql`with written as (
            update payment set version = version + 1, updated_at = ${at}::timestamptz ${status} ${assign}
            where id = ${id} and version = ${state.payment.version} ${guard} returning *),
          noted as (
            insert into timeline_entry (payment_id, at, kind, from_status, to_status, actor, message, data)
            select id, ${at}::timestamptz, ${note.kind}, ${to === null ? null : from}, ${to}, ${note.actor}, ${note.message},
              ${JSON.stringify(note.data ?? {})}::jsonb from written)
          select * from written`,
    )
  }

  async function insertNote(note: Note): Promise<void> {
    await execute(
      tx,
      sql`insert into timeline_entry (payment_id, at, kind, actor, message, data)
          values (${id}, ${at}::timestamptz, ${note.kind}, ${note.actor}, ${note.message}, ${JSON.stringify(note.data ?? {})}::jsonb)`,
    )
  }
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

/** `, column = $n` for each field; the column names come from the types above, never from outside. */
function assignments(fields: PaymentFields | AttemptFields): Statement {
  const entries = Object.entries(fields)
  return {
    text: entries.map(([name], index) => `, ${snakeCase(name)} = $${index + 1}`).join(''),
    values: entries.map(([, value]) => value),
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
