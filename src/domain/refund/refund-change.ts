import { isSame } from '../equality.ts'
import { type Booking, refundTaken } from '../ledger.ts'
import { add, subtract } from '../money.ts'
import type { Attempt } from '../payment/payment-object.ts'
import { createNote, type Note, type NoteReason } from '../timeline.ts'
import { isWebhookEventType, type WebhookEventType } from '../webhook.ts'
import { canMoveRefund, isRefundOver, isWithPartner, type Refund, type RefundStatus } from './refund.ts'

/** Decides what follows from a change of a refund: times, notes of its payment, events and books. */

export type RefundFacts = Partial<Omit<Refund, 'id' | 'version' | 'createdAt' | 'updatedAt' | 'expiresAt'>>

export type RefundChange = {
  readonly before: Refund
  readonly after: Refund
  readonly notes: readonly Note[]
  readonly bookings: readonly Booking[]
  readonly events: readonly WebhookEventType[]
  /** True if this change has ended the refund, which decides where its USDC goes. */
  readonly isEnding: boolean
}

/** Null: nothing has changed. Throws for a move that the table does not list: that is a bug. */
export function decideRefundChange(before: Refund, changed: Refund, at: string): RefundChange | null {
  if (isSame(before, changed)) return null
  const { status } = changed
  const isMoved = status !== before.status
  if (isMoved && !canMoveRefund(before.status, status))
    throw new Error(`${before.id} cannot change from ${before.status} to ${status}`)
  const after = { ...changed, ...(isMoved && timeOfMove(status, at)), updatedAt: at, version: before.version + 1 }
  const isOpened = hasBegun(after) && !hasBegun(before)
  const data = describe(after)
  return {
    before,
    after,
    notes: [
      // The decision on the payment has its own entry.
      ...(isOpened && after.fundFrom !== 'payment' ? [createNote('refund.created', data)] : []),
      ...(isMoved ? [createNote(NOTES[status], data)] : []),
    ],
    bookings: isMoved && status === 'succeeded' && after.fundFrom !== 'payment' ? [takeFunds(after)] : [],
    events: [...(isOpened ? (['refund.created'] as const) : []), ...(isMoved ? findEvent(status) : [])],
    isEnding: isMoved && isRefundOver(status),
  }
}

/** Returns what refunds of the order have given to the buyer, and what they might have given, after the change. */
export function countRefunds(
  { refunded, refunding }: Pick<Attempt, 'refunded' | 'refunding'>,
  { before, after }: Pick<RefundChange, 'before' | 'after'>,
): Pick<Attempt, 'refunded' | 'refunding'> {
  const { minor } = after.amount
  if (after.fundFrom === 'payment') return { refunded, refunding }
  const hasSucceeded = before.status !== after.status && after.status === 'succeeded'
  const open = isWithPartner(before) ? subtract(refunding, minor) : refunding
  return {
    refunded: hasSucceeded ? add(refunded, minor) : refunded,
    refunding: isWithPartner(after) ? add(open, minor) : open,
  }
}

/** True once the merchant can pay for it, or once the decision to give the payment's own money back is recorded. */
const hasBegun = ({ fundFrom, openedAt, askedAt }: Refund): boolean =>
  (fundFrom === 'payment' ? askedAt : openedAt) !== null

function timeOfMove(status: RefundStatus, at: string): Partial<Refund> {
  if (status === 'funded') return { fundedAt: at }
  if (status === 'pending') return { askedAt: at }
  if (status === 'succeeded') return { succeededAt: at }
  return status === 'failed' ? { failedAt: at } : {}
}

const NOTES: Readonly<Record<RefundStatus, NoteReason>> = {
  awaiting_funds: 'refund.created',
  funded: 'refund.funded',
  pending: 'refund.asked',
  succeeded: 'refund.succeeded',
  failed: 'refund.failed',
  canceled: 'refund.canceled',
  expired: 'refund.expired',
}

/** The event of a move, if merchants can subscribe to one. */
function findEvent(status: RefundStatus): WebhookEventType[] {
  const type = `refund.${status}`
  return isWebhookEventType(type) ? [type] : []
}

const describe = ({ id, amount, requiredMicro, receivedMicro, statusReason }: Refund): object => ({
  refund: id,
  asset: amount.currency,
  units: amount.minor,
  required_micro: requiredMicro,
  received_micro: receivedMicro,
  ...(statusReason !== null && { why: statusReason }),
})

const takeFunds = ({ id, paymentId, requiredMicro, fundFrom }: Refund): Booking =>
  refundTaken({
    paymentId,
    reference: id,
    micro: requiredMicro,
    from: fundFrom === 'next_payouts' ? 'reserve' : 'suspense',
  })
