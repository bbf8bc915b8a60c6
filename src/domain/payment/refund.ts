import { type Booking, fiatGivenBack, refundedAfterVoid } from '../ledger.ts'
import type { ProviderUsed } from '../methods.ts'
import { because, type Reason } from '../timeline.ts'
import type { Attempt, Payment } from './payment-object.ts'
import type { OperatorNote } from './requests.ts'

/** Giving money back: which attempt's, when it is refused, and what it changes. */

type State = { readonly payment: Payment; readonly attempts: readonly Attempt[] }

/** A refusal that is found out when the decision is carried out: for which payments, and what the operator is told. */
export type LateRefusal = { readonly when: string; readonly why: string }

export const NO_MONEY: LateRefusal = {
  when: 'there is no money to give back',
  why: 'There is no money to give back',
}
export const PAYOUT_EXISTS: LateRefusal = {
  when: 'its payout is not voided',
  why: 'The payout exists and is not voided: void it first',
}

/** The attempt that is named (late money); else the second payment; else the payment's own money. Null: no money. */
export function refundable({ payment, attempts }: State, named: string | undefined): Attempt | null {
  const withStatus = (status: Attempt['status']) => attempts.find((attempt) => attempt.status === status)?.id
  const id = named ?? withStatus('surplus') ?? payment.paidAttemptId ?? withStatus('on_hold')
  return attempts.find((attempt) => attempt.id === id) ?? null
}

/** Beside a payout that is not proved void nothing is given back. Null: the partner may be asked. */
export function whyNotRefundable({ usdc, parkReason }: Payment, attempt: Attempt): string | null {
  const hasPayout = usdc !== null && attempt.status === 'confirmed' && parkReason !== 'payout_voided'
  return hasPayout ? PAYOUT_EXISTS.why : null
}

export function whyPartnerCannotRefund(provider: ProviderUsed): string {
  return `${provider} cannot refund: use recordExternalRefund`
}

export type GivenBack = {
  readonly booking: Booking
  readonly reason: Reason
  /** The payment is refunded with it; else only the attempt is. */
  readonly endsPayment: boolean
}

/** What it changes that the attempt's money went back to the buyer. */
export function givenBack(
  payment: Payment,
  attempt: Attempt,
  how: { readonly note: OperatorNote; readonly through: 'partner' | 'outside' },
): GivenBack {
  const received = { minor: attempt.receivedMinor ?? '0', currency: attempt.asked.currency }
  const fact = { paymentId: payment.id, attemptId: attempt.id, received }
  const isOwn = payment.paidAttemptId === attempt.id
  const isUnbooked = payment.parkReason === 'amount_mismatch' || payment.parkReason === 'wrong_asset'
  const { operator, reason } = how.note
  const data = { operator, reason, attempt_id: attempt.id }
  return {
    booking:
      isOwn && payment.usdc !== null
        ? refundedAfterVoid({ ...fact, ...payment.usdc })
        : fiatGivenBack({ ...fact, from: isOwn ? 'merchant_payable' : 'suspense' }),
    reason: because(how.through === 'partner' ? 'refunded_through_partner' : 'refunded_outside', data),
    endsPayment: isOwn || (isUnbooked && payment.status === 'under_review'),
  }
}
