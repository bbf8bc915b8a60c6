import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'

export type Refunding = 'pending' | 'refunded' | 'refused'

export type HowItAnswers = {
  /** The response to a refund; without it, that of the partner itself. */
  readonly refund?: Refunding
  /** Runs after the response, and before it is applied. */
  readonly meanwhile?: () => Promise<unknown>
  readonly partner?: 'wallet_app' | 'card_partner' | 'local_partner'
}

const REFUNDS = {
  pending: { kind: 'pending' },
  refunded: { kind: 'refunded' },
  refused: { kind: 'refused', reason: 'the balance is too low' },
} as const

const GONE = { status: 'refunded', received: null } as const

/** A partner that reports this state of each order, with real values for the rest. A refunded order has no money. */
export function partnerSays(
  { partners }: Pick<PaymentDeps, 'partners'>,
  said: Partial<PartnerOrder>,
  { refund, meanwhile, partner = 'wallet_app' }: HowItAnswers,
): Pick<PaymentDeps, 'partners'> {
  const real = partners[partner]
  const readOrder: typeof real.readOrder = async (asked, signal) => {
    const order = await real.readOrder(asked, signal)
    await meanwhile?.()
    return order && { ...order, ...(refund === 'refunded' && GONE), ...said }
  }
  const refunds = refund === undefined ? {} : { refundOrder: async () => REFUNDS[refund] }
  return { partners: { ...partners, [partner]: { ...real, readOrder, ...refunds } } }
}
