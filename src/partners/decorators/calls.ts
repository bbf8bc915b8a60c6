import type { PaymentPartner } from '../provider.ts'

/** `attemptId`: null for a call about the whole account. */
export type PartnerCall = {
  readonly name: 'open' | 'read' | 'cancel' | 'refund' | 'disputes'
  readonly attemptId: string | null
}

export type Around = <Answer>(call: PartnerCall, ask: () => Promise<Answer>) => Promise<Answer>

/** Optional calls that a partner lacks stay absent. */
export function aroundCalls<Name extends string>(
  partners: Record<Name, PaymentPartner>,
  around: (name: Name) => Around,
): Record<Name, PaymentPartner> {
  const entries = Object.entries(partners) as [Name, PaymentPartner][]
  const made = entries.map(([name, partner]) => [name, aroundPartner(partner, around(name))])
  return Object.fromEntries(made) as Record<Name, PaymentPartner>
}

function aroundPartner(partner: PaymentPartner, make: Around): PaymentPartner {
  const cancelOrder = partner.cancelOrder?.bind(partner)
  const refundOrder = partner.refundOrder?.bind(partner)
  const findRefund = partner.findRefund?.bind(partner)
  const answerDispute = partner.answerDispute?.bind(partner)
  const listDisputes = partner.listDisputes?.bind(partner)
  return {
    ...partner,
    openOrder: (order, signal) => make(about('open', order), () => partner.openOrder(order, signal)),
    readOrder: (order, signal) => make(about('read', order), () => partner.readOrder(order, signal)),
    ...(cancelOrder && {
      cancelOrder: (order, signal) => make(about('cancel', order), () => cancelOrder(order, signal)),
    }),
    ...(refundOrder && {
      refundOrder: (refund, signal) => make(about('refund', refund), () => refundOrder(refund, signal)),
    }),
    ...(findRefund && {
      findRefund: (refund, signal) => make(about('read', refund), () => findRefund(refund, signal)),
    }),
    ...(answerDispute && {
      answerDispute: (request, signal) => make(DISPUTES, () => answerDispute(request, signal)),
    }),
    ...(listDisputes && {
      listDisputes: (since, signal) => make(DISPUTES, () => listDisputes(since, signal)),
    }),
  }
}

const DISPUTES: PartnerCall = { name: 'disputes', attemptId: null }

const about = (name: PartnerCall['name'], { attemptId }: { readonly attemptId: string }): PartnerCall => ({
  name,
  attemptId,
})
