import { bookingOfPart } from '../../../src/domain/ledger.ts'
import type { Money } from '../../../src/domain/money.ts'
import { fiatReceipt } from '../../../src/domain/payment/money/parts.ts'
import type { BookedPart } from '../../../src/domain/payment/order-changes.ts'

/** The first money of an attempt, as its payment counts and books it before the conversion. */
export function counted({ paymentId, attemptId }: { paymentId: string; attemptId: string }, total: Money): BookedPart {
  const part = fiatReceipt([], attemptId, { total, owner: { state: 'counted', account: 'merchant_payable' } })
  return { part, booking: bookingOfPart(part, { id: paymentId, usdc: null, paidAttemptId: null }) }
}
