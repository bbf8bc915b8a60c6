import { markApplied } from '../../db/payments/partner-events.ts'
import type { PaymentWork } from '../../db/payments/payment-changes.ts'
import { isWorth } from '../../domain/payment/funds/account.ts'
import { toAccount } from '../../domain/payment/funds/stored-funds.ts'
import { isOpen, mayStillBePaid } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { withReading } from '../../domain/payment/reading.ts'
import type { OrderNews } from './partner-calls.ts'
import type { PaymentDeps } from './payment-deps.ts'

/**
 * Applies what the partner said to the locked payment. Reading the same order again writes nothing. False if there was no
 * answer, or if it may be older than what is known: then the news stays unread, and the order is read again.
 */
export async function applyOrder(work: PaymentWork, deps: PaymentDeps, news: OrderNews): Promise<boolean> {
  const { order, asked, rate } = news
  const attempt = work.state.attempts.find(({ id }) => id === asked.attempt.id)
  if (attempt === undefined || order === null) return false
  const read = withReading(attempt, { order, rate, account: deps.accounts[attempt.provider], at: work.at })
  const isNews = JSON.stringify(read) !== JSON.stringify(attempt)
  if (isNews && attempt.revision !== asked.attempt.revision) return false
  if (asked.unread !== null) await markApplied(work.tx, attempt.id, asked.unread)
  if (!isNews) return true
  work.setAttempt(attempt.id, read)
  failIfHopeless(work, read)
  return true
}

/** The only way to pay is closed to this buyer. */
function failIfHopeless(work: PaymentWork, read: Attempt): void {
  const { payment, attempts } = work.state
  const isOnlyWay = payment.provider !== null && payment.fallback === 'none'
  const isRefused = read.failureCode === 'verification_failed' && read.status === 'declined'
  const isNothingElse = attempts.every((attempt) => !mayStillBePaid(attempt.status) && !isWorth(toAccount(attempt)))
  if (isRefused && isOnlyWay && isNothingElse && isOpen(payment.status)) work.set({ closedAs: 'failed' })
}
