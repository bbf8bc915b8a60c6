import { type Changed, changePayment, type PaymentWork, type Work } from '../../db/payments/payment-changes.ts'
import { nextEffect } from '../../domain/payment/funds/next.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { PaymentDeps, PayoutDesk } from './payment-deps.ts'

/** Changes what is known of a payment's money. A payout whose money is not all there is voided in the same transaction. */
export function changeMoney(deps: PaymentDeps, id: string, work: Work): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id,
    work: async (changing) => {
      await work(changing)
      await protectPayout(changing, deps.payouts)
    },
  })
}

/**
 * Voids the payout if its money is not all there. The settlement engine proves whether it was paid; a restored backup may have
 * forgotten it. If none was ever handed in, the sale is the platform's, and what is there is asked about again.
 */
export async function protectPayout(work: PaymentWork, payouts: PayoutDesk): Promise<void> {
  const { state, tx } = work
  if (nextEffect(toFunds(state)).do !== 'void') return
  const asked = await payouts.void(tx, state.payment.id)
  if (asked === 'none' && (await payouts.open(tx, state.payment.id)) === null)
    return work.set({ payout: 'none', stoppedFor: null, takenSale: null, usdc: null })
  work.set({ payout: 'voiding', stoppedFor: null })
  work.note(noteOf('payment.void_asked'))
}
