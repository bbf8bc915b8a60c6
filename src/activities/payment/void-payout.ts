import { endAsGivenBack, type PaymentWork } from '../../db/payments/payment-changes.ts'
import { voidKey } from '../../domain/ids.ts'
import { NOT_PARKED, parked } from '../../domain/payment/changes.ts'
import { isInDoubt, type Misfit, NOT_FREE, whyNotFreeButForHold } from '../../domain/payment/money/intents.ts'
import { chargeSum } from '../../domain/payment/money/parts.ts'
import { mustBeHeld } from '../../domain/payment/order-changes.ts'
import { afterPartnersWord } from '../../domain/payment/payment.ts'
import { attemptNote, because, noteOf } from '../../domain/timeline.ts'
import type { PayoutDesk } from './payment-deps.ts'

/**
 * The money behind the payout is gone: the payout must not be paid. Whether it was is the settlement engine's to prove;
 * where none was handed in, the payment ends at once, or waits for the rest to be given back.
 */
export async function voidPayout(work: PaymentWork, payouts: PayoutDesk): Promise<void> {
  const { payment } = work.state
  const key = voidKey(payment.id)
  const asked = await payouts.void(work.tx, payment.id)
  const isForgotten = asked === 'none' && (await payouts.open(work.tx, payment.id))?.kind === 'paid'
  // Of one that is forgotten the transfer is final: it ends the void as any other that was faster.
  if (asked === 'voiding' || isForgotten) {
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

/**
 * What a partner says of the payment's own money does not fit: nothing is sold, and no payout signed, until it is known. Where it
 * says that all of it is there, what was stopped before for such an answer goes on.
 */
export async function stopOrGoOn(
  work: PaymentWork,
  payouts: PayoutDesk,
  said: { readonly attemptId: string; readonly misfit: Misfit },
): Promise<void> {
  const { payment } = work.state
  const { id, status, paidAttemptId } = payment
  if (said.attemptId !== paidAttemptId) return
  if (!isInDoubt([{ kind: 'misfit', ...said }], payment)) return goOnByPartner(work)
  // What is signed or on its way goes its way: an operator has the misfit before them.
  const isKept = status === 'settling' && (await payouts.hold(work.tx, id, NOT_FREE.in_doubt))
  if (status !== 'processing' && !isKept) return
  const reason = because('misfit', { attempt_id: paidAttemptId })
  await work.move('under_review', reason, parked(isKept ? 'payout_held' : 'order_changed'))
}

/**
 * The partner says that all of the payment's own money is there: what waited for that word goes on, or to be approved, and a
 * hold beside it is what it waits for then.
 */
export async function goOnByPartner(work: PaymentWork): Promise<void> {
  const { payment, attempts } = work.state
  const paid = attempts.find(({ id }) => id === payment.paidAttemptId)
  if (paid === undefined || whyNotFreeButForHold(work.state) !== null) return
  const to = afterPartnersWord(payment.parkReason, paid.status)
  if (to === 'processing') await work.move('processing', because('released_by_partner'), NOT_PARKED)
  if (to === 'underpaid') {
    const { id: attempt_id, provider } = paid
    await work.change(attemptNote('underpaid', { attempt_id, provider }), parked('underpaid'))
  }
  await stopIfHeld(work)
}

/** No word of a partner lifts a hold. */
export async function stopIfHeld(work: PaymentWork): Promise<void> {
  if (mustBeHeld(work.state.payment)) await work.move('under_review', because('held'), parked('operator_hold'))
}
