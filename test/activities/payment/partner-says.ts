import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'

export type Refunding = 'pending' | 'refunded' | 'refused'

export type HowItAnswers = {
  /** How it answers a refund; without it, as the partner itself does. */
  readonly refund?: Refunding
  /** Happens after it has answered, and before the answer is applied. */
  readonly meanwhile?: () => Promise<unknown>
  readonly partner?: 'wallet_app' | 'card_partner' | 'local_partner'
}

const REFUNDS = {
  pending: { kind: 'pending' },
  refunded: { kind: 'refunded' },
  refused: { kind: 'refused', reason: 'the balance is too low' },
} as const

/** A partner that says this of each order, and what is true of the rest. */
export function partnerSays(
  { partners }: Pick<PaymentDeps, 'partners'>,
  said: Partial<PartnerOrder>,
  { refund, meanwhile, partner = 'wallet_app' }: HowItAnswers,
): Pick<PaymentDeps, 'partners'> {
  const real = partners[partner]
  const readOrder: typeof real.readOrder = async (asked, signal) => {
    const order = await real.readOrder(asked, signal)
    await meanwhile?.()
    return order && { ...order, ...said }
  }
  const refunds = refund === undefined ? {} : { refundOrder: async () => REFUNDS[refund] }
  return { partners: { ...partners, [partner]: { ...real, readOrder, ...refunds } } }
}
