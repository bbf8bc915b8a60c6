import type { Money } from '../../domain/money.ts'
import { unclear } from '../http.ts'
import type { RefundResult } from '../provider.ts'
import { toStripeAmount } from './amount.ts'
import type { StripeApi } from './api.ts'
import { listRefunds } from './orders.ts'
import { isRefused, REFUND_KEY, type StripeOrder } from './state.ts'
import type { Refund } from './wire.ts'

/**
 * Stripe repeats its first answer for a key, so progress is read from the refund, and one is requested only if none has
 * the key. What Stripe refuses is read again: another call with the key might have made it.
 */
export async function refundOrder(
  api: StripeApi,
  { order, key, amount }: { readonly order: StripeOrder; readonly key: string; readonly amount: Money | null },
  signal: AbortSignal,
): Promise<RefundResult> {
  const payment = order.session.payment_intent
  if (payment === null || order.session.payment_status !== 'paid')
    return { kind: 'refused', reason: 'nothing was received' }
  const known = findRefund(order, key)
  if (known !== null) return known

  const form = {
    payment_intent: payment.id,
    ...(amount !== null && { amount: toStripeAmount(amount) }),
    [`metadata[${REFUND_KEY}]`]: key,
  }
  const answer = await api.post('/v1/refunds', { form, key }, signal)
  const made = findRefund({ refunds: await listRefunds(api, payment.id, signal) }, key)
  if (made !== null) return made
  const error = answer.status === 400 || answer.status === 402 ? api.readError(answer) : null
  if (error === null || error.type === 'idempotency_error')
    throw unclear(api.to, `answered ${answer.status} to a refund, and has none`)
  return { kind: 'refused', reason: error.code ?? error.type }
}

export function findRefund({ refunds }: Pick<StripeOrder, 'refunds'>, key: string): RefundResult | null {
  const known = refunds.find(({ metadata }) => metadata?.[REFUND_KEY] === key)
  return known === undefined ? null : toResult(known)
}

function toResult(refund: Refund): RefundResult {
  if (isRefused(refund)) return { kind: 'refused', reason: refund.failure_reason ?? refund.status }
  return { kind: refund.status === 'succeeded' ? 'refunded' : 'pending' }
}
