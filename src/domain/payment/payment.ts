import type { MethodName, ProviderUsed } from '../methods.ts'

/**
 * What a payment may do. The table below is asked by the workflow, by the SQL compare-and-set, by the API, by the
 * checkout's views and by the generated state diagram.
 */

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

/** From, to, and why the move exists. A move that is not listed is refused by the database too. */
export const TRANSITIONS = [
  ['created', 'pending', 'the buyer opened a partner order'],
  ['created', 'expired', 'nobody opened a partner order in time'],
  ['created', 'canceled', 'the merchant canceled'],
  ['pending', 'processing', 'the partner says the money is received or being confirmed'],
  ['pending', 'expired', 'nothing was paid in time'],
  ['pending', 'canceled', 'the merchant canceled before any money came'],
  ['pending', 'failed', 'a definitive failure with no alternative, or an operator rejected it before any money'],
  ['pending', 'under_review', 'the partner withholds the money, or too little arrived'],
  ['processing', 'settling', 'converted to USDC, the payout is authorized'],
  [
    'processing',
    'under_review',
    'the partner withholds the money, too little arrived, or the conversion has not succeeded',
  ],
  ['processing', 'failed', 'the partner reversed the payment for good before the conversion'],
  ['processing', 'pending', 'the partner withdrew its confirmation before the conversion'],
  ['under_review', 'processing', 'an operator approved it, or the partner released it'],
  ['under_review', 'settling', 'an operator released the payout'],
  ['under_review', 'succeeded', 'the payout was proved on chain'],
  ['under_review', 'failed', 'an operator rejected it, and no money was taken'],
  ['under_review', 'refunded', 'the money went back to the buyer'],
  ['settling', 'succeeded', 'the net USDC is final at the wallet of the merchant'],
  ['settling', 'under_review', 'the payout is stopped or voided'],
  ['failed', 'under_review', 'money came after the failure'],
  ['expired', 'processing', 'money came after the expiry'],
  ['canceled', 'processing', 'money came after the cancellation'],
] as const satisfies readonly (readonly [PaymentStatus, PaymentStatus, string])[]

export function canMove(from: PaymentStatus, to: PaymentStatus): boolean {
  return TRANSITIONS.some(([source, target]) => source === from && target === to)
}

/** The states from which `to` may be entered: the guard of the compare-and-set. */
export function sourcesOf(to: PaymentStatus): PaymentStatus[] {
  return TRANSITIONS.filter(([, target]) => target === to).map(([source]) => source)
}

/** No buyer can pay a payment in these states; late money is another matter. */
export const CLOSED = ['succeeded', 'failed', 'expired', 'canceled', 'refunded'] as const satisfies PaymentStatus[]
export type ClosedStatus = (typeof CLOSED)[number]

export function isClosed(status: PaymentStatus): status is ClosedStatus {
  return CLOSED.some((closed) => closed === status)
}

/** A buyer may open a partner order, and the merchant may cancel, only here. */
export function isOpen(status: PaymentStatus): boolean {
  return status === 'created' || status === 'pending'
}

/**
 * What became of one partner order. `opening` is stored before the partner is asked; only `declined`, `canceled` and
 * `expired`, said by the partner itself, prove that no money can come. `surplus` is a second payment's money; `late` is
 * money that came after the payment had stopped listening.
 */
export const ATTEMPT_STATUSES = [
  'opening',
  'open',
  'verification_required',
  'confirming',
  'on_hold',
  'confirmed',
  'underpaid',
  'surplus',
  'late',
  'declined',
  'canceled',
  'expired',
  'refunded',
] as const
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number]

const DEAD: readonly AttemptStatus[] = ['declined', 'canceled', 'expired', 'refunded']
const MONEY: readonly AttemptStatus[] = ['confirmed', 'underpaid', 'surplus', 'late']

/** The partner itself has said that no money can come. */
export function isDead(status: AttemptStatus): boolean {
  return DEAD.includes(status)
}

/** Money may still come from an attempt that is neither proved dead nor already paid. */
export function mayStillBePaid(status: AttemptStatus): boolean {
  return !isDead(status) && !MONEY.includes(status)
}

/** Money of the attempt has come, whatever became of it. */
export function isSettled(status: AttemptStatus): boolean {
  return MONEY.includes(status) || status === 'refunded'
}

export function isPaid(status: AttemptStatus): boolean {
  return MONEY.includes(status)
}

/** What the workflow knows of an attempt. */
export type AttemptView = {
  readonly id: string
  readonly provider: ProviderUsed
  readonly method: MethodName
  readonly status: AttemptStatus
}

/** Why a payment waits for an operator: the text for operators, the text for its merchant, and the updates that resolve it. */
export const PARK_REASONS = {
  partner_hold: {
    text: 'The partner withholds the money while it checks the payment.',
    merchant: 'The partner withholds the money while it checks the payment. Do not ship yet.',
    decisions: ['reject', 'refund', 'recordExternalRefund'],
  },
  partner_silent: {
    text: 'The partner has reported for too long that the money is being confirmed. It is unknown whether it will arrive: ask the partner. If it arrives, the payment continues automatically.',
    merchant: 'The partner has been confirming the payment for too long. Do not ship yet.',
    decisions: ['reject'],
  },
  wrong_asset: {
    text: 'The buyer sent a token other than USDC to the payment’s address. It is still there.',
    merchant: 'The buyer sent a token other than USDC, which does not count as payment. Do not ship.',
    decisions: ['reject', 'recordExternalRefund'],
  },
  underpaid: {
    text: 'The buyer paid too little. The money is at the partner.',
    merchant: 'The buyer paid too little. Do not ship yet.',
    decisions: ['approve', 'refund', 'recordExternalRefund'],
  },
  order_changed: {
    text: 'The partner’s order has changed since it was confirmed, or the partner refused a refund. Nothing is converted or paid out. As soon as the partner reports that all of the money is there, the payment continues automatically, unless an operator holds it.',
    merchant:
      'The partner has changed its order. The payment continues when the partner reports that all of the money is there. Do not ship yet.',
    decisions: ['refund', 'recordExternalRefund'],
  },
  surplus: {
    text: 'A second payment arrived for this payment. It is not settled.',
    merchant: 'The buyer paid a second time. That money is not yours: Pinrail returns it to the buyer.',
    decisions: ['refund', 'recordExternalRefund'],
  },
  conversion: {
    text: 'The conversion to USDC has not succeeded: the converter refused it, or has not answered for half an hour. The money is at the partner.',
    merchant: 'The conversion to USDC has not succeeded. The money is safe. Do not ship yet.',
    decisions: ['retry', 'refund', 'recordExternalRefund'],
  },
  fill_off_rate: {
    text: 'The converter filled the conversion too far from the locked rate. No money is lost: the sale is recorded. `approve` settles at the locked rate, and the platform bears the difference. After a refund the USDC belongs to the platform.',
    merchant: 'The conversion is being reviewed. The money is safe. Do not ship yet.',
    decisions: ['approve', 'refund', 'recordExternalRefund'],
  },
  payout_held: {
    text: 'The payout is stopped. The USDC is in the treasury. `retry` pays it. If it must not be paid, void it (`pinrail settlement void`), then refund.',
    merchant: 'The payout is stopped. The money is safe. Do not ship yet.',
    decisions: ['retry'],
  },
  payout_voided: {
    text: 'The payout was voided with proof, and can never be paid. The USDC is in the treasury. Refund what is left of the buyer’s money.',
    merchant: 'The payout was voided. You receive nothing for this payment. Do not ship.',
    decisions: ['refund', 'recordExternalRefund'],
  },
  funds_reversed: {
    text: 'The partner reversed money after it was converted. The payout is being voided. Once that is proved and what is left at the partner has been returned, the payment is refunded. If the transfer was faster, the payment succeeds, with a chargeback if money is missing.',
    merchant:
      'The partner reversed the money, and the payout is being voided. Ship only if the payment still succeeds.',
    decisions: [],
  },
  operator_hold: {
    text: 'An operator holds the payment.',
    merchant: 'Pinrail holds the payment. Do not ship yet.',
    decisions: ['release', 'refund', 'recordExternalRefund'],
  },
  money_after_failure: {
    text: 'Money arrived after the payment had failed.',
    merchant: 'Money arrived after the payment had failed. Do not ship yet.',
    decisions: ['approve', 'refund', 'recordExternalRefund'],
  },
  amount_mismatch: {
    text: 'The partner’s report does not match the order. Nothing is settled. Refund the money, or reject the payment if the partner no longer has any. After that, `approve` settles other money that matches.',
    merchant: 'The partner’s report does not match the payment. Do not ship yet.',
    decisions: ['refund', 'recordExternalRefund', 'reject', 'approve'],
  },
  unexpected_settlement: {
    text: 'A transfer to the merchant is proved on chain, but no transfer was expected. The proof is stored. `approve` records that it is resolved.',
    merchant: 'USDC for this payment reached your wallet, although Pinrail did not expect it. You keep it.',
    decisions: ['approve'],
  },
  chargeback: {
    text: 'The partner reversed the money after the payment had been settled. The loss is booked. `approve` records that it is resolved.',
    merchant: 'The partner reversed the money after you were paid. You keep what you received.',
    decisions: ['approve'],
  },
  misfit: {
    text: 'Money arrived that matches no order of the payment: the partner reports another amount, or a token other than USDC is at the address. The extra money is not counted, and still there. Return it by hand, and record that with `recordExternalRefund`; `approve` records that there is nothing to return.',
    merchant: 'Money arrived that does not match the payment. It does not count, and is not yours.',
    decisions: ['recordExternalRefund', 'approve'],
  },
  outside_reversed: {
    text: 'The partner reversed money that the buyer had already received as an external refund: the buyer may have it twice. The platform’s loss is booked. `approve` records that it is resolved.',
    merchant: 'The partner reversed money that had already been returned to the buyer. You do not need to do anything.',
    decisions: ['approve'],
  },
} as const
export type ParkReason = keyof typeof PARK_REASONS

/**
 * Where a payment goes that waits for its partner's word, once that says that all of its money is there: on, or, where that
 * is too little, to whoever approves it. Null: it waits for something else.
 */
export function afterPartnersWord(
  reason: ParkReason | null,
  attempt: AttemptStatus,
): 'processing' | 'underpaid' | null {
  if (!waitsForPartner(reason)) return null
  if (attempt === 'underpaid') return 'underpaid'
  return attempt === 'confirmed' ? 'processing' : null
}

/** The partner's own word about money that was counted lets the payment go on: nothing else may. */
export function waitsForPartner(reason: ParkReason | null): boolean {
  return reason === 'partner_hold' || reason === 'order_changed'
}
