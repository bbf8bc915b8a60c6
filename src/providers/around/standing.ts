import { PROVIDER_NAMES, type ProviderName } from '../../domain/methods.ts'
import type { Asked, FailedCall } from '../../domain/partner/standing.ts'
import { PartnerError, type PaymentPartner } from '../provider.ts'

/** Finds out whether a partner works: by the calls that are made anyway, and by a question of our own. */

type Told = {
  readonly failed: (call: FailedCall) => Promise<void>
  /** The partner took an order or declined it: it opens orders. */
  readonly opened: (provider: ProviderName) => Promise<void>
}

/** The same partners, which tell how their calls end. What one of them cannot do, it still cannot. */
export function tellStanding(
  partners: Record<ProviderName, PaymentPartner>,
  told: Told,
): Record<ProviderName, PaymentPartner> {
  const entries = PROVIDER_NAMES.map((name) => [name, telling(name, partners[name], told)])
  return Object.fromEntries(entries) as Record<ProviderName, PaymentPartner>
}

function telling(name: ProviderName, partner: PaymentPartner, { failed, opened }: Told): PaymentPartner {
  const cancelOrder = partner.cancelOrder?.bind(partner)
  const refundOrder = partner.refundOrder?.bind(partner)
  const told = async <T>(attemptId: string, call: Promise<T>, isOpening = false): Promise<T> => {
    try {
      return await call
    } catch (error) {
      if (error instanceof PartnerError && error.isWhole) await failed({ provider: name, attemptId, isOpening })
      throw error
    }
  }
  return {
    ...partner,
    async openOrder(order, signal) {
      const answer = await told(order.attemptId, partner.openOrder(order, signal), true)
      await opened(name)
      return answer
    },
    readOrder: (order, signal) => told(order.attemptId, partner.readOrder(order, signal)),
    ...(cancelOrder && {
      cancelOrder: (order, signal) => told(order.attemptId, cancelOrder(order, signal)),
    }),
    ...(refundOrder && {
      refundOrder: (refund, signal) => told(refund.attemptId, refundOrder(refund, signal)),
    }),
  }
}

/** An attempt that no payment has. */
const NOBODYS = { attemptId: 'att_00000000000000000000000000' }

/** Milliseconds: shorter than a payment's own calls may take. A partner that needs longer counts as silent. */
const QUESTION_MS = 5000

/** A question in which no buyer and no merchant has a word: every partner knows that there is no such order. */
export async function askPartner(partner: PaymentPartner): Promise<Asked> {
  try {
    await partner.readOrder(NOBODYS, AbortSignal.timeout(QUESTION_MS))
    return 'answered'
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error
    // Any other trouble is an answer, if a strange one.
    if (!error.isWhole) return 'answered'
    return error.kind === 'misconfigured' ? 'refuses_us' : 'silent'
  }
}
