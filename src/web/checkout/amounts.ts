import { isZero, type MicroUsdc, type Money, subtract } from '../../domain/money.ts'
import { chargeSum, heldOf, type PartState, unitSum } from '../../domain/payment/money/parts.ts'
import { isOpen, isPaid } from '../../domain/payment/payment.ts'
import type { Attempt, PaymentWithAttempts } from '../../domain/payment/payment-object.ts'

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
  /** The part of `paid` that the partner has taken back since. Null: all of it is there. */
  readonly chargedBack: Money | null
  /** What arrived of a payment that is too small, and what of it is missing. Null for any other. */
  readonly short: { readonly received: Money; readonly missing: Money } | null
  /** Later payments of the same price, which do not go on to the shop. */
  readonly surplus: readonly Beside[]
  /** Second payments that went back to the buyer. */
  readonly returned: readonly Beside[]
  /** The order whose money counts; null before it is known. */
  readonly counted: Attempt | null
}

/** Money of an order that does not go on to the shop. `micro`: the USDC that it is, if it is USDC. */
export type Beside = { readonly attempt: Attempt; readonly amount: Money; readonly micro: MicroUsdc | null }

type MoneyOf = Pick<PaymentWithAttempts, 'payment' | 'attempts' | 'parts'>

export function amountsOf({ payment, attempts, parts }: MoneyOf): Amounts {
  const counted = countedAttempt(payment, attempts)
  const paid = payment.confirmed
  return {
    price: payment.amount,
    paid,
    extra: counted === null || paid === null ? null : excess(paid, counted.asked),
    chargedBack: readChargedBack({ payment, attempts, parts }),
    short: shortOf({ payment, attempts, parts }),
    surplus: sums(attempts, { parts, states: HELD }),
    returned: sums(
      attempts.filter(({ id }) => id !== counted?.id),
      { parts: receipts(parts), states: ['returned'] },
    ),
    counted,
  }
}

/** Keeps the attempts whose sum is more than nothing. */
function sums(
  attempts: readonly Attempt[],
  { parts, states }: Pick<MoneyOf, 'parts'> & { readonly states: readonly PartState[] },
): readonly Beside[] {
  return attempts
    .map((attempt) => {
      const of = { attemptId: attempt.id, states }
      const micro = attempt.provider === 'crypto' ? unitSum(parts, of) : null
      return { attempt, amount: sumOf(attempt, chargeSum(parts, of)), micro }
    })
    .filter(({ amount }) => !isZero(amount.minor))
}

/** With their returns, the parts of money that has gone sum to zero. */
const receipts = (parts: MoneyOf['parts']): MoneyOf['parts'] => parts.filter(({ kind }) => kind === 'receipt')

/** Money that is there and does not go on to the shop. */
const HELD: readonly PartState[] = ['surplus', 'late', 'returning']

function countedAttempt(payment: MoneyOf['payment'], attempts: readonly Attempt[]): Attempt | null {
  const named = attempts.find(({ id }) => id === payment.paidAttemptId)
  return named ?? attempts.find(({ status }) => isPaid(status) && status !== 'surplus') ?? null
}

function excess(paid: Money, asked: Money): Money | null {
  if (paid.currency !== asked.currency) return null
  const minor = subtract(paid.minor, asked.minor)
  return isZero(minor) || minor.startsWith('-') ? null : { minor, currency: paid.currency }
}

function readChargedBack({ payment: { confirmed, paidAttemptId: attemptId }, parts }: MoneyOf): Money | null {
  if (confirmed === null) return null
  return excess(confirmed, { ...confirmed, minor: chargeSum(parts, { attemptId, states: ['counted'] }) })
}

function shortOf({ payment, attempts, parts }: MoneyOf): Amounts['short'] {
  const isPart = ({ id }: Attempt) =>
    isOpen(payment.status) && !isZero(chargeSum(parts, { attemptId: id, states: ['counted'] }))
  const attempt = attempts.find((one) => one.status === 'underpaid' || isPart(one))
  if (attempt === undefined) return null
  const received = sumOf(attempt, heldOf(parts, attempt.id))
  const missing = excess(attempt.asked, received)
  return missing === null ? null : { received, missing }
}

function sumOf({ asked }: Attempt, minor: string): Money {
  return { minor, currency: asked.currency }
}
