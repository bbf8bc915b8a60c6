import { markApplied } from '../../db/payments/partner-events.ts'
import type { PaymentWork } from '../../db/payments/payment-changes.ts'
import { parked } from '../../domain/payment/changes.ts'
import { changesOf, mustBeHeld, tooLate } from '../../domain/payment/order-changes.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import { effectOfOrder, fits } from '../../domain/payment/partner-news.ts'
import { because } from '../../domain/timeline.ts'
import type { Rate } from '../../providers/converter/converter.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** An order as the partner reports it, and the rate to lock if its money is taken. */
export type OrderNews = {
  readonly attemptId: string
  readonly order: PartnerOrder | null
  readonly rate: Rate | null
  /** The newest unread news of the attempt when the partner was asked: what it answered is the answer to them. */
  readonly unread: string | null
}

/**
 * Applies what the partner said to the locked payment. Reading the same order again writes nothing. False when it was no
 * answer about this order: none at all, or one about another order, account or amount. Then the news stays unread.
 */
export async function applyOrder(work: PaymentWork, deps: PaymentDeps, news: OrderNews): Promise<boolean> {
  const { payment } = work.state
  const attempt = work.state.attempts.find((candidate) => candidate.id === news.attemptId)
  if (attempt === undefined || news.order === null) return false
  const known = { ...payment, pinned: payment.provider !== null, converted: payment.usdc !== null }
  const context = { account: deps.accounts[attempt.provider], tolerancePercent: deps.tolerancePercent }
  const understood = fits(attempt, news.order, context)

  const effect = tooLate(payment, effectOfOrder(known, attempt, { order: news.order, context }))
  // A misfit that parks the payment is an operator's from now on; any other one is asked about again.
  const isAnswered = understood || effect.park !== null
  if (isAnswered && news.unread !== null) await markApplied(work.tx, news.attemptId, news.unread)
  const { reference } = news.order
  const changes = changesOf(payment, attempt, { effect, reference, rate: news.rate, at: work.at })

  if (changes.attempt !== null) await work.saveAttempt(attempt.id, changes.attempt)
  if (changes.booking !== null && (await work.book(changes.booking)) && changes.bookingNote !== null)
    await work.note(changes.bookingNote)
  if (changes.change !== null) await work.change(changes.change.note, changes.change.fields)
  for (const { to, reason, fields } of changes.moves) await work.move(to, reason, fields)
  if (mustBeHeld(work.state.payment)) await work.move('under_review', because('held'), parked('operator_hold'))
  return understood
}
