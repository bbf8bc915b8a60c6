import { endAsGivenBack, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { voidKey } from '../../domain/ids.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { PayoutDesk } from './payment-deps.ts'

/**
 * The money behind the payout is gone: the payout must not be paid. Whether it was is the settlement engine's to prove;
 * where none was handed in, the payment ends at once.
 */
export async function voidPayout(work: PaymentWork, payouts: PayoutDesk): Promise<void> {
  const { payment } = work.state
  const key = voidKey(payment.id)
  const asked = await payouts.void(work.tx, payment.id)
  if (asked === 'voiding') {
    await work.ask({ key, kind: 'void', attemptId: null, operator: 'system', reason: 'the money was taken back' })
    await work.note(noteOf('payment.void_asked'))
    return
  }
  if (asked === 'none') await endAsGivenBack(work)
}
