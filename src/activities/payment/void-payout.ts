import { endAsGivenBack, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { voidKey } from '../../domain/ids.ts'
import { parked } from '../../domain/payment/changes.ts'
import { chargeSum } from '../../domain/payment/money/parts.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { PayoutDesk } from './payment-deps.ts'

/**
 * The money behind the payout is gone: the payout must not be paid. Whether it was is the settlement engine's to prove;
 * where none was handed in, the payment ends at once, or waits for the rest to be given back.
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
  if (asked !== 'none') return
  // What the partner has not taken back is still to be given back, by an operator.
  if (chargeSum(work.state.parts, { attemptId: payment.paidAttemptId, states: ['counted'] }) === '0')
    await endAsGivenBack(work)
  else await work.change(noteOf('payment.payout_never_made'), parked('payout_voided'))
}
