import { markCallbacksApplied } from '../../db/payments/partner-callbacks.ts'
import { wakePendingRefunds } from '../../db/refunds/refunds.ts'
import { listOrderDisputes } from '../../domain/dispute/order-disputes.ts'
import { isSame } from '../../domain/equality.ts'
import { isZero } from '../../domain/money.ts'
import { isOwedToBuyer } from '../../domain/payment/funds/account.ts'
import { toAccount } from '../../domain/payment/funds/stored-funds.ts'
import { canStillBePaid, isOpen } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { withReading } from '../../domain/payment/reading.ts'
import type { PaymentDraft } from '../../payments/payment-draft.ts'
import type { OrderReading } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** `known`: nothing new. `nothing`: no answer, or one that might be older than the stored reading. */
export type ReadingResult = 'new' | 'known' | 'nothing'

/** A callback without a usable answer stays unread, and the order is read again. */
export function applyOrder(
  draft: PaymentDraft,
  deps: Pick<PaymentDeps, 'accounts'>,
  reading: OrderReading,
): ReadingResult {
  const { order, asked, rate } = reading
  const attempt = draft.state.attempts.find(({ id }) => id === asked.attempt.id)
  if (attempt === undefined || order === null) return 'nothing'
  const read = withReading(attempt, { order, rate, account: deps.accounts[attempt.provider], at: draft.at })
  const isNew = !isSame({ ...read, confirmedAt: null }, { ...attempt, confirmedAt: null })
  if (isNew && attempt.revision !== asked.attempt.revision) return 'nothing'
  if (asked.unread !== null) draft.addStatement(markCallbacksApplied(attempt.id, asked.unread))
  const disputes = listOrderDisputes(attempt, order)
  if (disputes !== null) draft.addDisputes(disputes)
  if (!isNew) return 'known'
  draft.setAttempt(attempt.id, read)
  // The partner might have ended a refund of it.
  if (!isZero(attempt.refunding)) draft.addStatement(wakePendingRefunds(attempt.id))
  failIfHopeless(draft, read)
  return 'new'
}

/** Ends the payment if the only method is closed to this buyer. */
function failIfHopeless(draft: PaymentDraft, read: Attempt): void {
  const { payment, attempts } = draft.state
  const isOnlyWay = payment.provider !== null && payment.fallback === 'none'
  const isRefused = read.failureCode === 'verification_failed' && read.status === 'declined'
  const isNothingElse = attempts.every(
    (attempt) => !canStillBePaid(attempt.status) && !isOwedToBuyer(toAccount(attempt)),
  )
  if (isRefused && isOnlyWay && isNothingElse && isOpen(payment.status)) draft.setPayment({ closedAs: 'failed' })
}
