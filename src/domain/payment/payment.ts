import type { MethodName, ProviderUsed } from '../methods.ts'
import type { Report } from './funds/account.ts'
import { ORDER_STATUSES } from './partner.ts'

/** Each change, the API, the checkout's views and the generated state diagram read the table below. */

export const PAYMENT_STATUSES = [
  'created',
  'pending',
  'processing',
  'under_review',
  'settling',
  'succeeded',
  'failed',
  'expired',
  'canceled',
  'refunded',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export type PaymentException =
  | 'verification_required'
  | 'underpaid'
  | 'overpaid'
  | 'paid_late'
  | 'duplicate_payment'
  | 'wrong_asset'
  | 'settlement_delayed'

export type ClosedAs = 'expired' | 'canceled' | 'failed'

/** From, to, and why the move exists. A move that is not listed is refused. */
export const TRANSITIONS = [
  ['created', 'pending', 'the buyer opened a partner order'],
  ['created', 'expired', 'no partner order was opened in time'],
  ['created', 'canceled', 'the merchant canceled, or is suspended'],
  ['pending', 'processing', 'the partner reports that the money is received or being confirmed'],
  ['pending', 'expired', 'nothing was paid in time'],
  ['pending', 'canceled', 'the merchant canceled, or was suspended, before any money arrived'],
  ['pending', 'failed', 'the identity check was not passed, and no other method is allowed'],
  ['pending', 'under_review', 'the partner withholds the money, or something about it does not fit'],
  ['pending', 'refunded', 'the money went back to the buyer'],
  ['processing', 'settling', 'converted to USDC, the payout is handed over'],
  ['processing', 'under_review', 'an operator must decide, or the partner withholds the money'],
  ['processing', 'pending', 'the partner withdrew its confirmation before the conversion'],
  ['processing', 'expired', 'late money was reversed before the conversion'],
  ['processing', 'canceled', 'late money was reversed before the conversion'],
  ['processing', 'failed', 'late money was reversed before the conversion'],
  ['processing', 'refunded', 'the money went back to the buyer'],
  ['under_review', 'processing', 'an operator settled or released it, or the partner released it'],
  ['under_review', 'pending', 'the partner no longer has the money that was in doubt'],
  ['under_review', 'settling', 'the payout continues'],
  ['under_review', 'succeeded', 'the payout was proved on chain'],
  ['under_review', 'failed', 'an operator ended it, and no money had arrived'],
  ['under_review', 'expired', 'late money was reversed before the conversion'],
  ['under_review', 'canceled', 'late money was reversed before the conversion'],
  ['under_review', 'refunded', 'the money went back to the buyer'],
  ['settling', 'succeeded', 'the net USDC is final at the wallet of the merchant'],
  ['settling', 'under_review', 'the payout is stopped or voided'],
  ['settling', 'refunded', 'the money had left before the payout was handed over'],
  ['failed', 'under_review', 'money arrived after the failure'],
  ['expired', 'processing', 'money arrived after the expiry'],
  ['expired', 'under_review', 'too little money arrived after the expiry'],
  ['canceled', 'processing', 'money arrived after the cancellation'],
  ['canceled', 'under_review', 'too little money arrived after the cancellation'],
  // The books of a restored backup might lack the payout.
  ['processing', 'succeeded', 'a payout that was forgotten was proved on chain'],
  ['failed', 'succeeded', 'a payout that was forgotten was proved on chain'],
  ['expired', 'succeeded', 'a payout that was forgotten was proved on chain'],
  ['canceled', 'succeeded', 'a payout that was forgotten was proved on chain'],
  ['refunded', 'succeeded', 'a payout that was forgotten was proved on chain'],
] as const satisfies readonly (readonly [PaymentStatus, PaymentStatus, string])[]

export function canMove(from: PaymentStatus, to: PaymentStatus): boolean {
  return TRANSITIONS.some(([source, target]) => source === from && target === to)
}

/** Returns the shortest list of moves; empty if the statuses are the same. Throws if no moves lead there. */
export function findPath(from: PaymentStatus, to: PaymentStatus): PaymentStatus[] {
  if (from === to) return []
  const paths: PaymentStatus[][] = [[from]]
  for (const path of paths) {
    const last = path.at(-1) as PaymentStatus
    if (canMove(last, to)) return [...path.slice(1), to]
    const further = PAYMENT_STATUSES.filter((next) => canMove(last, next) && !path.includes(next))
    paths.push(...further.map((next) => [...path, next]))
  }
  throw new Error(`no transition leads from ${from} to ${to}`)
}

/** No buyer can pay a payment in these statuses; late money has its own rules. */
export const CLOSED = ['succeeded', 'failed', 'expired', 'canceled', 'refunded'] as const satisfies PaymentStatus[]
export type ClosedStatus = (typeof CLOSED)[number]

export function isClosed(status: PaymentStatus): status is ClosedStatus {
  return CLOSED.some((closed) => closed === status)
}

/** True for the only statuses in which a buyer can open a partner order, and the merchant can cancel. */
export function isOpen(status: PaymentStatus): boolean {
  return status === 'created' || status === 'pending'
}

/** `opening` is stored before the partner is asked; every other status is the partner's last report about its order. */
export const ATTEMPT_STATUSES = ['opening', ...ORDER_STATUSES] as const
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number]

const REPORTS: Readonly<Record<AttemptStatus, Report>> = {
  opening: 'open',
  open: 'open',
  verification_required: 'open',
  confirming: 'confirming',
  on_hold: 'withheld',
  paid: 'paid',
  declined: 'over',
  canceled: 'over',
  expired: 'over',
  refunded: 'over',
}

export const getReport = (status: AttemptStatus): Report => REPORTS[status]

/** True if an order can still bring money: it is neither over nor paid. */
export function canStillBePaid(status: AttemptStatus): boolean {
  return getReport(status) !== 'over' && getReport(status) !== 'paid'
}

export type AttemptView = {
  readonly id: string
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly status: AttemptStatus
}
