import { isZero, type Money, subtract } from '../../domain/money.ts'
import { isPaid } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'

/**
 * What a payment's money comes to, as the pages show it. The one place that reads it from the payment and its attempts:
 * every page asks here, so that none of them says another sum.
 */
export type Amounts = {
  /** What the shop asks for. */
  readonly price: Money
  /** What was taken for this payment and goes on to the shop; in the currency that was charged. Null before. */
  readonly paid: Money | null
  /** The part of `paid` above what was asked. Null without one. */
  readonly extra: Money | null
  /** What arrived of a payment that is too small, and what of it is missing. Null for any other. */
  readonly short: { readonly received: Money; readonly missing: Money } | null
  /** Later payments of the same price, which do not go on to the shop. */
  readonly surplus: readonly { readonly attempt: Attempt; readonly amount: Money }[]
  /** The order whose money counts; null before it is known. */
  readonly counted: Attempt | null
}

export function amountsOf({ payment, attempts }: Pick<MoneyOf, 'payment' | 'attempts'>): Amounts {
  const counted = countedAttempt(payment, attempts)
  const paid = payment.confirmed
  return {
    price: payment.amount,
    paid,
    extra: counted === null || paid === null ? null : excess(paid, counted.asked),
    short: shortOf(attempts),
    surplus: attempts
      .filter(({ status }) => status === 'surplus')
      .map((attempt) => ({ attempt, amount: received(attempt) })),
    counted,
  }
}

type MoneyOf = { readonly payment: Payment; readonly attempts: readonly Attempt[] }

function countedAttempt(payment: Payment, attempts: readonly Attempt[]): Attempt | null {
  const named = attempts.find(({ id }) => id === payment.paidAttemptId)
  return named ?? attempts.find(({ status }) => isPaid(status) && status !== 'surplus') ?? null
}

function excess(paid: Money, asked: Money): Money | null {
  if (paid.currency !== asked.currency) return null
  const minor = subtract(paid.minor, asked.minor)
  return isZero(minor) || minor.startsWith('-') ? null : { minor, currency: paid.currency }
}

function shortOf(attempts: readonly Attempt[]): Amounts['short'] {
  const attempt = attempts.find(({ status }) => status === 'underpaid')
  if (attempt === undefined || attempt.receivedMinor === null) return null
  const missing = excess(attempt.asked, received(attempt))
  return missing === null ? null : { received: received(attempt), missing }
}

function received({ asked, receivedMinor }: Attempt): Money {
  return receivedMinor === null ? asked : { minor: receivedMinor, currency: asked.currency }
}
