import { Context } from '@temporalio/activity'
import type { PaymentWithNews } from '../../db/payments/payments.ts'
import type { PartnerOrder } from '../../domain/payment/partner.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { isPartnerError } from '../failure.ts'
import { type AskedAttempt, type OrderNews, partCount } from './partner-news.ts'
import { CALL_TIMEOUT_MS, type PaymentDeps } from './payment-deps.ts'

/** How often a partner that does not answer is asked before a payment is closed without its word. */
const TRIES_BEFORE_CLOSING = 4

export function toAsk(before: PaymentWithNews, attempt: Attempt): AskedAttempt {
  return { attempt, parts: partCount(before, attempt.id), unread: before.unread.get(attempt.id) ?? null }
}

/** Asks the partner to take no money any more and reads what is true afterwards. A partner that cannot cancel is read. */
export async function cancelAndRead(
  deps: PaymentDeps,
  asked: AskedAttempt,
  partner: 'must answer' | 'may be silent',
): Promise<OrderNews> {
  const at = deps.partners[asked.attempt.provider]
  const which = { attemptId: asked.attempt.id }
  const ask = () => at.cancelOrder?.(which, callSignal()) ?? at.readOrder(which, callSignal())
  const order = partner === 'must answer' ? await ask() : await askQuietly(ask)
  return newsOf(deps, asked, order)
}

/** After a few tries silence is accepted: the attempt stays unproved, and the payment goes on listening for its money. */
export async function askQuietly(ask: () => Promise<PartnerOrder | null>): Promise<PartnerOrder | null> {
  try {
    return await ask()
  } catch (error) {
    if (isPartnerError(error) && Context.current().info.attempt >= TRIES_BEFORE_CLOSING) return null
    throw error
  }
}

/** The partner's answer with the rate to lock if its money is taken, and the news that it answers. */
export async function newsOf(deps: PaymentDeps, asked: AskedAttempt, order: PartnerOrder | null): Promise<OrderNews> {
  const mayTake = order !== null && order.received !== null && asked.attempt.status !== 'confirmed'
  return { asked, order, rate: mayTake ? await rateToLock(deps, order) : null }
}

/**
 * A partner that takes USDC itself has locked the rate when it asked for the amount. Without a current rate the money is
 * seen all the same: its conversion locks one.
 */
export async function rateToLock(deps: PaymentDeps, order: PartnerOrder): Promise<OrderNews['rate']> {
  if (order.usdc !== undefined) return order.usdc.rate
  return deps.rates.current(order.amount.currency).catch(noAnswer)
}

/** For `catch`: a partner that gives no answer has said nothing; anything else is thrown on. */
export function noAnswer(error: unknown): null {
  if (isPartnerError(error)) return null
  throw error
}

/** Ends a call when it takes too long or when the activity is canceled. */
export function callSignal(): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(CALL_TIMEOUT_MS), Context.current().cancellationSignal])
}
