import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'

export type Doubts = {
  /**
   * Minor units that the partner was heard to have of an order that it had changed, and has said nothing of since; none of one whose
   * refund it has refused.
   */
  readonly told: ReadonlyMap<string, string>
  hear(answer: PartnerOrder): void
  refused(attemptId: string): void
}

const SAYS_NOTHING: readonly PartnerOrder['status'][] = ['open', 'verification_required', 'confirming', 'on_hold']

/** What partners say of the money of orders which they have changed, as whoever asks them hears it. */
export function createDoubts(): Doubts {
  const asked = new Map<string, string>()
  const told = new Map<string, string>()
  return {
    told,
    hear: ({ attemptId, status, amount, received }) => {
      const price = asked.get(attemptId) ?? amount.minor
      asked.set(attemptId, price)
      if (SAYS_NOTHING.includes(status)) return
      if (status === 'paid' && amount.minor !== price) told.set(attemptId, received?.minor ?? '0')
      else told.delete(attemptId)
    },
    refused: (attemptId) => void told.set(attemptId, '0'),
  }
}
