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
  const hasKey = ({ metadata }: Refund): boolean => metadata?.[REFUND_KEY] === key
  const known = order.refunds.find(hasKey)
  if (known !== undefined) return toResult(known)

  const form = {
    payment_intent: payment.id,
    ...(amount !== null && { amount: toStripeAmount(amount) }),
    [`metadata[${REFUND_KEY}]`]: key,
  }
  const answer = await api.post('/v1/refunds', { form, key }, signal)
  const made = (await listRefunds(api, payment.id, signal)).find(hasKey)
  if (made !== undefined) return toResult(made)
  const error = answer.status === 400 || answer.status === 402 ? api.readError(answer) : null
  if (error === null || error.type === 'idempotency_error')
    throw unclear(api.to, `answered ${answer.status} to a refund, and has none`)
  return { kind: 'refused', reason: error.code ?? error.type }
}

function toResult(refund: Refund): RefundResult {
  if (isRefused(refund)) return { kind: 'refused', reason: refund.failure_reason ?? refund.status }
  return { kind: refund.status === 'succeeded' ? 'refunded' : 'pending' }
}
