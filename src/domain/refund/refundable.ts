import type { Money } from '../money.ts'
import { freeUnits, isOnChain, isOwedToBuyer, isSellable } from '../payment/funds/account.ts'
import { toAccount, toMoney } from '../payment/funds/stored-funds.ts'
import { countRefundable, type PaymentWithAttempts } from '../payment/payment-object.ts'
import type { FundSource } from './refund.ts'

/** The part of a payment that its merchant can refund now. */
export type Refundable = {
  readonly fundFrom: FundSource
  readonly attemptId: string
  /** The most that can be refunded. Of a payment that is not settled it is also the least. */
  readonly left: Money
}

/** Null: nothing, which the payment's state explains. The domain of the payment checks a decision once more. */
export function findRefundable(state: Pick<PaymentWithAttempts, 'payment' | 'attempts'>): Refundable | null {
  const { payout, confirmed, paidAttemptId: attemptId } = state.payment
  if (confirmed === null || attemptId === null) return null
  if (payout === 'paid') {
    const left = { minor: countRefundable(state.payment), currency: confirmed.currency }
    return left.minor === '0' ? null : { fundFrom: 'wallet', attemptId, left }
  }
  return canGiveBack(state, attemptId) ? { fundFrom: 'payment', attemptId, left: confirmed } : null
}

/**
 * True if the partner has exactly the payment's own money, and no other money of the buyer is there: of two payments of
 * a buyer, or of an order that is odd, an operator must say what goes back. A hold stops all money.
 */
function canGiveBack({ payment, attempts }: Pick<PaymentWithAttempts, 'payment' | 'attempts'>, ownId: string): boolean {
  const own = attempts.find(({ id }) => id === ownId)
  if (own === undefined || payment.held || !['none', 'handed', 'stopped', 'void'].includes(payment.payout)) return false
  const account = toAccount(own)
  const isAlone = attempts.every((other) => other.id === ownId || !isOwedToBuyer(toAccount(other)))
  const isWhole = account.outside === 0n && toMoney(own, freeUnits(account)).minor === payment.confirmed?.minor
  return isAlone && isWhole && isSellable(account) && !isOnChain(account)
}
