import { changePayment, type PaymentWork, unchanged } from '../../../db/payments/payment-changes.ts'
import { fillKept, fillSuspended } from '../../../domain/ledger.ts'
import { convertToMicroUsdc } from '../../../domain/money.ts'
import { withoutOrder } from '../../../domain/payment/money/conversion.ts'
import type { Payment, PaymentWithAttempts } from '../../../domain/payment/payment-object.ts'
import { noteOf } from '../../../domain/timeline.ts'
import type { EndedConversion } from '../../../providers/converter/converter.ts'
import type { PaymentDeps } from '../payment-deps.ts'
import type { Converted } from './converted.ts'
import { keepFill, mayTake } from './fills.ts'

type Filled = Extract<EndedConversion, { kind: 'filled' }>

/**
 * The order at the converter may be of another amount than is to be converted now, or of money that the partner has taken
 * back. It is ended first, so that only one order is ever open. One that was never filled is followed by another, with a
 * key of its own. What was bought for the same money is its fill, however far off. What was bought for money that has
 * gone is taken where that was of the same currency, and it is near enough to the locked rate; else it is ours, and another
 * order follows.
 */
export async function renewConversion(
  deps: PaymentDeps,
  state: PaymentWithAttempts,
  end: () => Promise<EndedConversion>,
): Promise<Converted> {
  const { id, conversionOrder, fill } = state.payment
  const ended = fill === null ? await end() : { ...filled(fill), kind: 'filled' as const }
  if (ended.kind === 'pending') return { ...unchanged(state), wait: ended.retryAfterSeconds }
  return changePayment(deps.db, deps.context, {
    id,
    work: async (work) => {
      const now = work.state.payment
      // Another try has ended it, or the payment takes no conversion any more.
      if (now.conversionStale === null || now.conversionOrder !== conversionOrder || now.usdc !== null) return
      if (ended.kind === 'filled' && (await isTaken(work, deps, ended))) return
      const data = { order: conversionOrder + 1 }
      await work.change(noteOf('payment.conversion_renewed', data), withoutOrder(now))
    },
  })
}

const filled = ({ micro, reference }: NonNullable<Payment['fill']>) => ({ microUsdc: micro, reference })

/** The next try takes what is on record, or parks the payment. False: it was bought for other money, and is ours. */
async function isTaken(work: PaymentWork, deps: PaymentDeps, { microUsdc, reference }: Filled): Promise<boolean> {
  const {
    id: paymentId,
    conversionOrder: order,
    conversionStale,
    confirmed,
    rate,
    fill,
    providerUsed,
  } = work.state.payment
  const gross = confirmed === null || rate === null ? '0' : convertToMicroUsdc(confirmed, rate.rate)
  const isNear = isOfOneCurrency(work.state) && mayTake(deps, { gross, filled: microUsdc, fill })
  const isWanted = conversionStale === 'changed' || isNear
  // A payment in USDC settles what came itself.
  if (isWanted && providerUsed !== 'crypto') {
    if (fill === null) await keepFill(work, { filled: microUsdc, reference })
    await work.change(noteOf('payment.conversion_ended'), { conversionStale: null })
    return true
  }
  if (fill === null) await work.book(fillSuspended({ paymentId, order, micro: microUsdc }))
  await work.book(fillKept({ paymentId, order, micro: microUsdc }))
  await work.note(noteOf('payment.fill_dropped', { reference, filled_micro: microUsdc }))
  return false
}

/**
 * Of more than one, an earlier order may have sold another than the payment has now, which would never be sold. Whatever the
 * payment has, or had, was booked as owed to the merchant.
 */
function isOfOneCurrency({ payment: { confirmed }, parts }: PaymentWithAttempts): boolean {
  return parts.every(({ account, asset }) => account !== 'merchant_payable' || asset === confirmed?.currency)
}
