import type { PaymentWork } from '../../../db/payments/payment-changes.ts'
import { fillKept, fillSuspended } from '../../../domain/ledger.ts'
import { convertToMicroUsdc, isWithinPercent, isZero } from '../../../domain/money.ts'
import { type PaymentFields, parked } from '../../../domain/payment/changes.ts'
import type { Payment } from '../../../domain/payment/payment-object.ts'
import { because, noteOf } from '../../../domain/timeline.ts'
import type { PaymentDeps } from '../payment-deps.ts'

/** What the converter has bought and the payment has not taken: whose it is. */

/** Near enough to the locked rate, or accepted by an operator for what the locked rate gives. */
export function mayTake(
  { conversionTolerancePercent }: PaymentDeps,
  { gross, filled, fill }: { readonly gross: string; readonly filled: string; readonly fill: Payment['fill'] },
): boolean {
  return (
    isWithinPercent(filled, gross, conversionTolerancePercent) || (fill?.accepted === true && fill.expected === gross)
  )
}

/** The fill is kept and booked before an operator is asked, so that no unit of it is without an owner. */
export async function setAside(
  work: PaymentWork,
  { gross, filled, reference }: { readonly gross: string; readonly filled: string; readonly reference: string },
): Promise<void> {
  const { id: paymentId, conversionOrder: order } = work.state.payment
  await work.book(fillSuspended({ paymentId, order, micro: filled }))
  const reason = because('fill_off_rate', { reference, filled_micro: filled, expected_micro: gross })
  const onRecord = fillOnRecord({ filled, expected: gross, reference })
  await work.move('under_review', reason, { ...parked('fill_off_rate'), ...onRecord })
}

/** Not taken yet: an operator accepts it, or it turns out to be near enough to the locked rate. */
function fillOnRecord(fill: {
  readonly filled: string
  readonly expected: string
  readonly reference: string
}): PaymentFields {
  return {
    fillMicro: fill.filled,
    fillExpectedMicro: fill.expected,
    fillReference: fill.reference,
    fillAccepted: false,
  }
}

/** The payment was held, or its money taken back, while the converter was asked: what it bought has an owner all the same. */
export async function keepFill(
  work: PaymentWork,
  { filled, reference }: { readonly filled: string; readonly reference: string },
): Promise<void> {
  const { id: paymentId, conversionOrder: order, confirmed, rate } = work.state.payment
  const expected = confirmed === null || rate === null ? '0' : convertToMicroUsdc(confirmed, rate.rate)
  // Of nothing that was bought there is nothing to book; the order is over all the same.
  const isKnown = !(await work.book(fillSuspended({ paymentId, order, micro: filled }))) && !isZero(filled)
  if (isKnown) return
  const note = noteOf('payment.fill_kept', { reference, filled_micro: filled })
  await work.change(note, fillOnRecord({ filled, expected, reference }))
  // Nobody will take it any more: it is ours.
  if (work.state.payment.status === 'refunded') await work.book(fillKept({ paymentId, order, micro: filled }))
}
