import { computePayment } from '../../domain/payment/change.ts'
import type { Payment, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import type { Booked } from './invariant.ts'

export const RULE =
  'The computed fields of a payment are what its facts give, and no step that needs no other party is left undone.'
export const TODO =
  'A fact was written past the code that computes, or a newer version computes otherwise. The next change of the payment computes it: read one of its orders again.'

export function compare({ state }: Booked): string | null {
  const [stored, computed] = [describe(state), describe(computePayment(state, state.payment.updatedAt))]
  const differing = Object.keys(stored).filter((name) => stored[name] !== computed[name])
  const texts = differing.map((name) => `${name} is ${stored[name]}, and the facts give ${computed[name]}`)
  return texts.length === 0 ? null : texts.join('; ')
}

/** Leaves out the texts of reviews, which are for people and change with a version. */
function describe({ payment, sales }: PaymentWithAttempts): Readonly<Record<string, string>> {
  return {
    status: payment.status,
    exception: String(payment.exception),
    paid_attempt: String(payment.paidAttemptId),
    confirmed: payment.confirmed === null ? 'null' : `${payment.confirmed.minor} ${payment.confirmed.currency}`,
    payout: payment.payout,
    reserved: payment.reservedMicro,
    reviews: describeReviews(payment),
    closed: String(payment.closedAt !== null),
    taken_sale: String(payment.takenSale),
    sales: String(sales.length),
  }
}

const describeReviews = ({ reviews }: Payment): string =>
  reviews.map(({ reason, attemptId }) => (attemptId === null ? reason : `${reason} of ${attemptId}`)).join(', ') ||
  'none'
