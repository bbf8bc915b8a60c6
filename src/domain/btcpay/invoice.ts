import type { PaymentException, PaymentStatus } from '../payment/payment.ts'

/** A payment as an invoice of BTCPay's Greenfield API. Its shape is in docs.btcpayserver.org/API/Greenfield/v1. */

export type InvoiceStatus = 'New' | 'Processing' | 'Settled' | 'Expired' | 'Invalid'
export type AdditionalStatus = 'None' | 'PaidPartial' | 'PaidOver' | 'PaidLate' | 'Marked'

type State = {
  readonly status: InvoiceStatus
  /** `None` if neither a rule of `by` nor `always` applies. */
  readonly always?: AdditionalStatus
  readonly by?: Partial<Readonly<Record<PaymentException, AdditionalStatus>>>
}

const PARTIAL = { underpaid: 'PaidPartial' } as const
const OVER = { overpaid: 'PaidOver', duplicate_payment: 'PaidOver' } as const

/**
 * Only `succeeded` is `Settled`. `PaidLate` is never said before: BTCPay's client for PHP calls an invoice settled if it
 * is either, so a shop would ship for money that is not final.
 */
export const INVOICE_STATES: Readonly<Record<PaymentStatus, State>> = {
  created: { status: 'New' },
  pending: { status: 'New', by: PARTIAL },
  processing: { status: 'Processing', by: { ...PARTIAL, ...OVER } },
  under_review: { status: 'Processing', by: { ...PARTIAL, ...OVER } },
  settling: { status: 'Processing', by: OVER },
  succeeded: { status: 'Settled', by: { ...OVER, paid_late: 'PaidLate' } },
  failed: { status: 'Invalid', by: PARTIAL },
  expired: { status: 'Expired', by: PARTIAL },
  canceled: { status: 'Invalid', always: 'Marked' },
  refunded: { status: 'Invalid' },
}

export type PaymentState = { readonly status: PaymentStatus; readonly exception: PaymentException | null }

export function getInvoiceState({ status, exception }: PaymentState): {
  readonly status: InvoiceStatus
  readonly additionalStatus: AdditionalStatus
} {
  const state = INVOICE_STATES[status]
  const byException = exception === null ? undefined : state.by?.[exception]
  return { status: state.status, additionalStatus: state.always ?? byException ?? 'None' }
}

/** Returns the statuses of payments that are shown with one of these statuses. */
export function listPaymentStatuses(statuses: readonly string[]): PaymentStatus[] {
  const all = Object.entries(INVOICE_STATES) as [PaymentStatus, State][]
  return all.filter(([, state]) => statuses.includes(state.status)).map(([status]) => status)
}

/** The one method that shops see: which card or bank the buyer uses is chosen at the checkout. */
export const PAYMENT_METHOD = 'USDC'
