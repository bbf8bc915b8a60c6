import type { PaymentFields } from '../changes.ts'
import type { PaymentStatus } from '../payment.ts'
import type { Fill, Payment, StaleConversion } from '../payment-object.ts'

/** The payment as it is before the change. */
type Before = Pick<
  Payment,
  'status' | 'paidAttemptId' | 'providerUsed' | 'usdc' | 'fill' | 'conversionOpen' | 'conversionStale' | 'confirmed'
>

/**
 * What a change writes about the order at the converter. It is open from the change after which the converter may be
 * asked, so the record is stored before the first call and costs no statement. It is closed by the change that has the
 * fill, or by the converter's word that it will never fill the order.
 */
export function withConversion(payment: Before, to: PaymentStatus | null, fields: PaymentFields): PaymentFields {
  const isFilled = payment.usdc !== null || fields.grossMicro !== undefined || hasFill(payment, fields)
  const paidBy = fields.paidAttemptId === undefined ? payment.paidAttemptId : fields.paidAttemptId
  const provider = fields.providerUsed === undefined ? payment.providerUsed : fields.providerUsed
  // USDC needs no converter.
  const mayBeAsked = (to ?? payment.status) === 'processing' && paidBy !== null && provider !== 'crypto'
  const isOpen = !isFilled && (mayBeAsked || (fields.conversionOpen ?? payment.conversionOpen))
  const stale = fields.conversionStale === undefined ? staleness(payment, fields) : fields.conversionStale
  return {
    ...fields,
    ...(isOpen === payment.conversionOpen ? {} : { conversionOpen: isOpen }),
    ...(stale === payment.conversionStale ? {} : { conversionStale: stale }),
  }
}

function hasFill({ fill }: Before, { fillMicro }: PaymentFields): boolean {
  return fillMicro === undefined ? fill !== null : fillMicro !== null
}

/**
 * The converter knows an order by its key, and refuses another amount under it. From the change on after which another
 * amount would be asked for, the order must be ended before the payment gets one of its own.
 */
function staleness(
  { conversionOpen, conversionStale, fill, confirmed }: Before,
  fields: PaymentFields,
): StaleConversion | null {
  if (conversionStale === 'gone' || !(conversionOpen || fill !== null) || confirmed === null) return conversionStale
  if (fields.paidAttemptId === null) return 'gone'
  const isOther = (now: string | null | undefined, before: string) => now !== undefined && now !== before
  const isChanged =
    isOther(fields.confirmedMinor, confirmed.minor) || isOther(fields.chargeCurrency, confirmed.currency)
  return isChanged ? 'changed' : conversionStale
}

/** The payment takes neither its order nor the fill of it: another order is the next one. */
export function withoutOrder({ conversionOrder }: Pick<Payment, 'conversionOrder'>): PaymentFields {
  return {
    conversionOrder: conversionOrder + 1,
    conversionStale: null,
    fillMicro: null,
    fillExpectedMicro: null,
    fillReference: null,
    fillAccepted: false,
  }
}

/** USDC was bought for a payment that has ended without taking it. */
export function isFillLeft<P extends Pick<Payment, 'status' | 'fill' | 'usdc'>>(
  payment: P,
): payment is P & { readonly fill: Fill } {
  const { status, fill, usdc } = payment
  const isOver = status === 'failed' || status === 'expired' || status === 'canceled'
  return isOver && fill !== null && usdc === null
}
