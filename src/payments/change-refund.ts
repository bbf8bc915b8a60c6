import type { Session, Tx } from '../db/db.ts'
import { decideRefundDeposit, loadRefund, lockRefund, writeRefund } from '../db/refunds/refunds.ts'
import { recordEvents } from '../db/webhooks/events.ts'
import { isRefundOver, type Refund, treasuryShare } from '../domain/refund/refund.ts'
import {
  countRefunds,
  decideRefundChange,
  type RefundChange,
  type RefundFacts,
} from '../domain/refund/refund-change.ts'
import { renderRefund } from '../domain/refund/refund-object.ts'
import { type ChangeContext, changeLockedPayment } from './change-payment.ts'
import type { LockedDraft } from './payment-draft.ts'

/**
 * The only way to change a refund. Its payment is changed in the same transaction, and locked first: books, timeline and
 * the attempt's figures belong to the payment, and two refunds of a payment wait for each other.
 */

export type RefundDraft = {
  readonly refund: Refund
  readonly setRefund: (facts: RefundFacts) => void
  readonly payment: LockedDraft
}

type Work = {
  readonly id: string
  readonly change: (draft: RefundDraft, tx: Tx) => void | Promise<void>
  /** True if the workflow of the refund does not make this change, so that it must be woken. */
  readonly wakes?: boolean
}

/** The refund after a change, and the change's events with subscribers. */
export type ChangedRefund = { readonly refund: Refund; readonly events: readonly string[] }

export const changeRefund = (db: Session, context: ChangeContext, work: Work): Promise<ChangedRefund> =>
  db.transaction((tx) => changeLockedRefund(tx, context, work))

/** Changes a refund in a larger transaction, which must have locked every payment that it changes. */
export async function changeLockedRefund(tx: Tx, context: ChangeContext, work: Work): Promise<ChangedRefund> {
  const known = await loadRefund(tx, work.id)
  const made: { refund: Refund; change: RefundChange | null } = { refund: known, change: null }
  await changeLockedPayment(tx, context, {
    id: known.paymentId,
    change: async (payment) => {
      const before = await lockRefund(tx, work.id)
      made.refund = before
      const setRefund = (facts: RefundFacts): void => void (made.refund = { ...made.refund, ...facts })
      const draft: RefundDraft = {
        get refund() {
          return made.refund
        },
        setRefund,
        payment,
      }
      await work.change(draft, tx)
      made.change = decideRefundChange(before, made.refund, payment.at)
      if (made.change === null) return
      made.refund = made.change.after
      await write(tx, made.change, work.wakes ?? false)
      countAtOrder(payment, made.change)
      for (const note of made.change.notes) payment.addNote(note)
      for (const booking of made.change.bookings) payment.addBooking(booking)
      // The workflow of the payment might wait for what this change has begun or ended.
      if (payment.state.payment.closedAt === null) payment.relayChange()
    },
  })
  return { refund: made.refund, events: await announce(tx, made.change) }
}

function countAtOrder({ state, setAttempt }: LockedDraft, change: RefundChange): void {
  const attempt = state.attempts.find(({ id }) => id === change.after.attemptId)
  if (attempt === undefined) throw new Error(`there is no attempt ${change.after.attemptId}`)
  setAttempt(attempt.id, countRefunds(attempt, change))
}

async function write(tx: Tx, change: RefundChange, wakes: boolean): Promise<void> {
  const { after, isEnding } = change
  await writeRefund(tx, change, { isOver: isRefundOver(after.status), wakes })
  if (isEnding) await decideRefundDeposit(tx, after.id, treasuryShare(after))
}

async function announce(tx: Tx, change: RefundChange | null): Promise<string[]> {
  if (change === null) return []
  const { merchantId, livemode, paymentId, updatedAt: at } = change.after
  const object = renderRefund(change.after)
  const events = change.events.map((type) => ({ merchantId, livemode, type, paymentId, object, at }))
  return (await recordEvents(tx, events)).flatMap((id) => id ?? [])
}
