import type { Payment } from './payment-object.ts'

export type NewPayment = Pick<
  Payment,
  | 'id'
  | 'amountText'
  | 'amount'
  | 'provider'
  | 'fallback'
  | 'description'
  | 'reference'
  | 'metadata'
  | 'invoice'
  | 'successUrl'
  | 'cancelUrl'
  | 'checkoutToken'
  | 'paymentLink'
  | 'tolerancePercent'
  | 'fillTolerancePercent'
  | 'feePercent'
  | 'reserve'
  | 'destination'
  | 'chainId'
  | 'token'
  | 'quote'
  | 'createdAt'
  | 'expiresAt'
>

export function createdPayment(payment: NewPayment, owner: Pick<Payment, 'merchantId' | 'livemode'>): Payment {
  return { ...NOTHING_YET, ...payment, ...owner, updatedAt: payment.createdAt }
}

const NOTHING_YET: Omit<Payment, keyof NewPayment | 'merchantId' | 'livemode' | 'updatedAt'> = {
  status: 'created',
  statusReason: null,
  exception: null,
  held: false,
  closedAs: null,
  payout: 'none',
  stoppedFor: null,
  stuck: null,
  convertingSince: null,
  providerUsed: null,
  methodUsed: null,
  paidAttemptId: null,
  confirmed: null,
  rate: null,
  reviews: [],
  reviewSince: null,
  agreed: null,
  takenSale: null,
  paidMicro: null,
  usdc: null,
  reservedMicro: '0',
  reserveReleasedMicro: '0',
  reserveReleaseId: null,
  deduction: null,
  transfer: null,
  delayedAt: null,
  expiryPostponed: false,
  expiryExtended: false,
  listenEnded: false,
  paidAt: null,
  succeededAt: null,
  failedAt: null,
  canceledAt: null,
  closedAt: null,
  lostMinor: '0',
  refundsMinor: '0',
  refundsCount: 0,
  version: 1,
}

/** The placeholder of the payment's id, which the merchant does not know yet; many programs encode the braces. */
const ID_PLACE = /(?:\{|%7[Bb])PAYMENT_ID(?:\}|%7[Dd])/g

export function returnUrl(url: string | null, paymentId: string): string | null {
  return url?.replace(ID_PLACE, paymentId) ?? null
}
