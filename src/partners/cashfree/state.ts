import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import type { Dispute, Order, Payment, Refund } from './wire.ts'

/** An order with its payments, and what was taken back of them. */
export type CashfreeOrder = {
  readonly order: Order
  readonly payments: readonly Payment[]
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

export const isPaid = ({ payment_status: status }: Payment): boolean => status === 'SUCCESS'

const isFailed = ({ payment_status: status }: Payment): boolean =>
  status === 'FAILED' || status === 'USER_DROPPED' || status === 'CANCELLED' || status === 'VOID'

/** The platform's own refund counts when it has succeeded; any other one counts at once. */
const isTaken = ({ refund_status: status }: Refund, isOurs: boolean): boolean =>
  status === 'SUCCESS' || (!isOurs && (status === 'PENDING' || status === 'ONHOLD'))

/** The money of a chargeback leaves when it is created; that of an inquiry, when it is lost. A won one returns it. */
export function takesMoney({ dispute_type: type, dispute_status: status }: Dispute): boolean {
  if (status === 'MERCHANT_WON') return false
  const isChargeback = type !== 'RETRIEVAL' && type !== 'DISPUTE'
  return isChargeback || !['CREATED', 'DOCS_RECEIVED', 'UNDER_REVIEW'].includes(status)
}

/** The money that disputes have taken, in paise. Each stage of a dispute is listed as another dispute about it. */
export function sumDisputes(disputes: readonly Dispute[]): bigint {
  const most = new Map<string, bigint>()
  for (const { order_details: about, dispute_amount: amount } of disputes.filter(takesMoney)) {
    const known = most.get(about.cf_payment_id) ?? 0n
    most.set(about.cf_payment_id, amount > known ? amount : known)
  }
  return [...most.values()].reduce((total, amount) => total + amount, 0n)
}

export type CashfreeReading = {
  readonly status: OrderStatus
  /** In paise. Null before any money, and after disputes took all of it. */
  readonly received: bigint | null
  readonly failureCode: FailureCode | null
}

/** `ours`: true for a refund that the platform has requested. */
export function readState(
  { order, payments, refunds, disputes }: CashfreeOrder,
  ours: (refund: Refund) => boolean,
): CashfreeReading {
  const without = (status: OrderStatus): CashfreeReading => ({ status, received: null, failureCode: null })
  const captured = payments.filter(isPaid).reduce((total, { payment_amount: amount }) => total + amount, 0n)
  if (captured > 0n) {
    const refunded = refunds
      .filter((refund) => isTaken(refund, ours(refund)))
      .reduce((total, { refund_amount: amount }) => total + amount, 0n)
    const disputed = sumDisputes(disputes)
    const left = captured - refunded - disputed
    if (left > 0n) return { status: 'paid', received: left, failureCode: null }
    if (disputed > 0n) return { status: 'declined', received: left === 0n ? null : left, failureCode: 'reversed' }
    return { status: 'refunded', received: captured, failureCode: null }
  }
  if (payments.some(({ payment_status: status }) => status === 'PENDING' || status === 'FLAGGED'))
    return without('confirming')
  switch (order.order_status) {
    case 'ACTIVE':
    case 'TERMINATION_REQUESTED':
      // After a failed payment the same order can still be paid.
      return without('open')
    case 'PAID':
      return without('confirming')
    case 'TERMINATED':
    case 'EXPIRED': {
      const failed = payments.findLast(isFailed)
      if (failed !== undefined) return { status: 'declined', received: null, failureCode: toFailureCode(failed) }
      return without(order.order_status === 'TERMINATED' ? 'canceled' : 'expired')
    }
  }
}

function toFailureCode({ payment_status: status, error_details: error }: Payment): FailureCode {
  if (status === 'USER_DROPPED') return 'abandoned'
  if (error?.error_reason === 'insufficient_funds') return 'insufficient_funds'
  return error?.error_source === 'cashfree' ? 'partner_unavailable' : 'declined'
}
