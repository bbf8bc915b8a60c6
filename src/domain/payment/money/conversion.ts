import type { PaymentFields } from '../changes.ts'
import type { PaymentStatus } from '../payment.ts'
import type { Payment } from '../payment-object.ts'

/** The payment as it is before the change. */
type Before = Pick<Payment, 'status' | 'paidAttemptId' | 'providerUsed' | 'usdc' | 'fill' | 'conversionOpen'>

/**
 * What a change writes about the order at the converter. It is open from the change after which the converter may be
 * asked, so the record is stored before the first call and costs no statement. It is closed by the change that has the
 * fill, or by the converter's word that it will never fill the order.
 */
export function withConversion(payment: Before, to: PaymentStatus | null, fields: PaymentFields): PaymentFields {
  const isFilled =
    payment.usdc !== null || payment.fill !== null || fields.grossMicro !== undefined || fields.fillMicro !== undefined
  const paidBy = fields.paidAttemptId === undefined ? payment.paidAttemptId : fields.paidAttemptId
  const provider = fields.providerUsed === undefined ? payment.providerUsed : fields.providerUsed
  // USDC needs no converter.
  const mayBeAsked = (to ?? payment.status) === 'processing' && paidBy !== null && provider !== 'crypto'
  const isOpen = !isFilled && (mayBeAsked || (fields.conversionOpen ?? payment.conversionOpen))
  return isOpen === payment.conversionOpen ? fields : { ...fields, conversionOpen: isOpen }
}
