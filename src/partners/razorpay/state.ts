import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import type { Dispute, Payment, QrCode, Refund } from './wire.ts'

/** A QR code with the payments for it, their refunds, and the disputes about them. */
export type RazorpayOrder = {
  readonly qr: QrCode
  readonly payments: readonly Payment[]
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

const REASONS: Readonly<Record<string, FailureCode>> = {
  insufficient_funds: 'insufficient_funds',
  payment_cancelled: 'abandoned',
  payment_timed_out: 'abandoned',
}
const CODES: Readonly<Record<string, FailureCode>> = {
  GATEWAY_ERROR: 'partner_unavailable',
  SERVER_ERROR: 'partner_unavailable',
}

export const isCaptured = ({ status }: Payment): boolean => status === 'captured' || status === 'refunded'

const sum = (items: readonly { readonly amount: number }[]): bigint =>
  items.reduce((total, { amount }) => total + BigInt(amount), 0n)

/** The platform's own refund counts when it is processed; any other one counts at once. */
const isTaken = ({ status, receipt }: Refund): boolean =>
  status === 'processed' || (status === 'pending' && (receipt ?? null) === null)

/** Returns the paise of the payment that no refund and no lost dispute has taken. */
export function getRefundable({ id, amount, amount_refunded }: Payment, { disputes }: RazorpayOrder): number {
  const lost = disputes.filter(({ payment_id, status }) => payment_id === id && status === 'lost')
  return lost.reduce((left, { amount_deducted: deducted }) => left - deducted, amount - amount_refunded)
}

export type RazorpayReading = {
  readonly status: OrderStatus
  /** In paise. Null before any money, and after disputes took all of it. */
  readonly received: bigint | null
  readonly failureCode: FailureCode | null
}

export function readState({ qr, payments, refunds, disputes }: RazorpayOrder): RazorpayReading {
  const without = (status: OrderStatus): RazorpayReading => ({ status, received: null, failureCode: null })
  const captured = sum(payments.filter(isCaptured))
  if (captured > 0n) {
    const lost = disputes.filter(({ status }) => status === 'lost')
    const disputed = sum(lost.map(({ amount_deducted: amount }) => ({ amount })))
    const left = captured - sum(refunds.filter(isTaken)) - disputed
    if (left > 0n) return { status: 'paid', received: left, failureCode: null }
    if (disputed > 0n) return { status: 'declined', received: left === 0n ? null : left, failureCode: 'reversed' }
    return { status: 'refunded', received: captured, failureCode: null }
  }
  if (payments.some(({ status }) => status === 'created' || status === 'authorized')) return without('confirming')
  // After a failed payment the same code can still be paid.
  if (qr.status === 'active') return without('open')
  const failed = payments.findLast(({ status }) => status === 'failed')
  if (failed !== undefined) return { status: 'declined', received: null, failureCode: toFailureCode(failed) }
  return without(qr.close_reason === 'on_demand' ? 'canceled' : 'expired')
}

const toFailureCode = ({ error_reason: reason, error_code: code }: Payment): FailureCode =>
  REASONS[reason ?? ''] ?? CODES[code ?? ''] ?? 'declined'
