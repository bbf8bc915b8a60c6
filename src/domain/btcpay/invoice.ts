import { formatAmount, type Money } from '../money.ts'
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
  settling: { status: 'Processing', by: { ...PARTIAL, ...OVER } },
  succeeded: { status: 'Settled', by: { ...PARTIAL, ...OVER, paid_late: 'PaidLate' } },
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

/** `asked` is the sum of the paid attempt, in the currency of `confirmed`. Null: nothing is paid. */
type PaidPayment = { readonly price: Money; readonly confirmed: Money | null; readonly asked: Money | null }

/** The part of the price that is paid, rounded down: a partner can charge in another currency than the price has. */
export function getPaidPart({ price, confirmed, asked }: PaidPayment): { readonly paid: string; readonly due: string } {
  const whole = BigInt(price.minor)
  const paid = confirmed === null || asked === null ? 0n : (whole * BigInt(confirmed.minor)) / BigInt(asked.minor)
  const toText = (minor: bigint): string =>
    minor === 0n ? '0' : formatAmount({ minor: minor.toString(), currency: price.currency })
  return { paid: toText(paid), due: toText(paid < whole ? whole - paid : 0n) }
}

/** Returns the statuses of payments that are shown with one of these statuses. */
export function listPaymentStatuses(statuses: readonly string[]): PaymentStatus[] {
  const all = Object.entries(INVOICE_STATES) as [PaymentStatus, State][]
  return all.filter(([, state]) => statuses.includes(state.status)).map(([status]) => status)
}

/** The one method that shops see: which card or bank the buyer uses is chosen at the checkout. */
export const PAYMENT_METHOD = 'USDC'
