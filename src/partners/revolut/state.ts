import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import type { Dispute, RevolutOrder } from './wire.ts'

/** Reasons why a payment failed. Every other one is `declined`. */
const FAILURES: Readonly<Record<string, FailureCode>> = {
  insufficient_funds: 'insufficient_funds',
  '3ds_challenge_failed_manually': 'verification_failed',
  customer_challenge_failed: 'verification_failed',
  customer_name_mismatch: 'verification_failed',
  '3ds_challenge_abandoned': 'abandoned',
  customer_challenge_abandoned: 'abandoned',
  rejected_by_customer: 'abandoned',
  technical_error: 'partner_unavailable',
  issuer_not_available: 'partner_unavailable',
}

export type RevolutReading = {
  readonly status: OrderStatus
  /** In minor units. Null before any money, and after disputes took all of it. */
  readonly received: bigint | null
  readonly failureCode: FailureCode | null
}

/** The money that lost disputes have taken, in minor units. */
export const sumLost = (disputes: readonly Dispute[]): bigint =>
  disputes.filter(({ state }) => state === 'lost').reduce((sum, { amount }) => sum + BigInt(amount), 0n)

/** `disputes`: those about the order's payments. Only a lost one has taken money. */
export function readState(order: RevolutOrder, disputes: readonly Dispute[]): RevolutReading {
  const without = (status: OrderStatus): RevolutReading => ({ status, received: null, failureCode: null })
  switch (order.state) {
    case 'pending':
      return without('open')
    case 'processing':
    case 'authorised':
      return without('confirming')
    case 'cancelled':
      return without('canceled')
    case 'failed':
      return readFailed(order)
    case 'completed': {
      const disputed = sumLost(disputes)
      const left = BigInt(order.amount) - BigInt(order.refunded_amount ?? 0) - disputed
      if (left > 0n) return { status: 'paid', received: left, failureCode: null }
      if (disputed > 0n) return { status: 'declined', received: left === 0n ? null : left, failureCode: 'reversed' }
      return { status: 'refunded', received: BigInt(order.amount), failureCode: null }
    }
  }
}

/** An order that nobody tried to pay has failed because its time was over. */
function readFailed({ payments = [] }: RevolutOrder): RevolutReading {
  const reason = payments.findLast(({ decline_reason: declined }) => declined !== undefined)?.decline_reason
  if (reason === undefined) return { status: 'expired', received: null, failureCode: null }
  return { status: 'declined', received: null, failureCode: FAILURES[reason] ?? 'declined' }
}
