import type { NewRefund } from '../../../../db/refunds/refunds.ts'
import type { Currency } from '../../../../domain/currencies.ts'
import {
  convertToMicroUsdcUp,
  formatAmount,
  formatUsdc,
  isMore,
  type MicroUsdc,
  type Money,
  parseAmount,
} from '../../../../domain/money.ts'
import type { PaymentStatus } from '../../../../domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import { DEDUCTION_DAYS } from '../../../../domain/refund/deduction.ts'
import { MAX_REFUNDS, REFUND_FUNDING_MS } from '../../../../domain/refund/refund.ts'
import { findRefundable, type Refundable } from '../../../../domain/refund/refundable.ts'
import { Problem, refuseField } from '../../../http/problems.ts'
import { amountProblem, currentRate, type RateBook } from '../../prices.ts'
import type { CreateRefundBody } from './refund-schemas.ts'

/** Decides what a refund is of, and what it costs, for the page that shows it and for its creation. */

const DAY_MS = 86_400_000

export type RefundPlanDeps = { readonly rates: RateBook; readonly clock: () => number }

export type RefundPlan = Pick<
  NewRefund,
  'attemptId' | 'fundFrom' | 'amount' | 'rate' | 'rateSource' | 'requiredMicro' | 'createdAt' | 'expiresAt'
>

/** `amount`: undefined for all that is left. `fund_from`: undefined for the usual way. */
export type AskedRefund = Pick<CreateRefundBody, 'amount' | 'fund_from'>

/** The database checks the sum once more, at the moment of the creation, and the limit of deductions. */
export async function planRefund(
  { rates, clock }: RefundPlanDeps,
  state: PaymentWithAttempts,
  { amount: text, fund_from: asked }: AskedRefund,
): Promise<RefundPlan> {
  const refundable = requireRefundable(state)
  const { attemptId, left } = refundable
  if (refundable.fundFrom === 'payment' && asked !== undefined)
    throw refuseField('fund_from', 'must be absent before the settlement: the payment’s own money goes back')
  const fundFrom = refundable.fundFrom === 'payment' ? 'payment' : (asked ?? 'wallet')
  const amount = readAmount({ fundFrom, left }, text)
  const now = clock()
  const createdAt = new Date(now).toISOString()
  if (fundFrom === 'payment') {
    // Nothing is paid for it, so no rate is locked.
    const { rate, rateSource } = state.payment.quote
    return { attemptId, fundFrom, amount, rate, rateSource, requiredMicro: '0', createdAt, expiresAt: createdAt }
  }
  const { rate, source: rateSource } = await currentRate(rates, amount.currency)
  const requiredMicro = convertToMicroUsdcUp(amount, rate)
  const expiresAt = new Date(now + (fundFrom === 'wallet' ? REFUND_FUNDING_MS : DEDUCTION_DAYS * DAY_MS)).toISOString()
  return { attemptId, fundFrom, amount, rate, rateSource, requiredMicro, createdAt, expiresAt }
}

export function requireRefundable(state: PaymentWithAttempts): Refundable {
  const { payout, status, providerUsed, confirmed, refundsCount } = state.payment
  if (providerUsed === 'crypto')
    throw new Problem(
      'not_possible_now',
      'The buyer paid in USDC, possibly from a wallet that an exchange shares. Ask the buyer for an address, and send the USDC there yourself.',
    )
  if (refundsCount >= MAX_REFUNDS)
    throw new Problem('limit_reached', `A payment can have ${MAX_REFUNDS} refunds, and this one has them.`)
  const refundable = findRefundable(state)
  if (refundable !== null) return refundable
  if (payout === 'paid' && confirmed !== null) throw tooLarge(confirmed.currency, '0')
  throw new Problem('not_possible_now', describeUnsettled(status))
}

function describeUnsettled(status: PaymentStatus): string {
  switch (status) {
    case 'created':
    case 'pending':
      return `The payment is ${status}: there is nothing to refund. To have it not paid, cancel it.`
    case 'refunded':
      return 'The payment was refunded before it was settled.'
    case 'failed':
    case 'expired':
    case 'canceled':
      return `The payment is ${status}: there is nothing to refund.`
    case 'processing':
    case 'settling':
    case 'under_review':
    case 'succeeded':
      return `The payment is ${status}. Its money is not confirmed, is going back already, or waits for the decision of an operator. If that changes, you can refund it.`
  }
}

function readAmount(
  { fundFrom, left }: Pick<RefundPlan, 'fundFrom'> & Pick<Refundable, 'left'>,
  text: string | undefined,
): Money {
  if (text === undefined) return left
  const { currency } = left
  const most = `${formatAmount(left)} ${currency}`
  const parsed = parseAmount(text, currency)
  if (!parsed.ok && parsed.problem === 'precision') throw amountProblem('precision', currency)
  if (!parsed.ok) throw refuseField('amount', `must be an amount of ${currency}, at most ${most}`)
  if (fundFrom === 'payment' && parsed.money.minor !== left.minor)
    throw refuseField(
      'amount',
      `must be ${most}, or absent: before the settlement only the whole payment can go back. Refund a part of it after payment.succeeded`,
    )
  if (isMore(parsed.money, left)) throw tooLarge(currency, left.minor)
  return parsed.money
}

/** `minor`: what can still be refunded, in minor units. */
export function tooLarge(currency: Currency, minor: string): Problem {
  const left = formatAmount({ minor, currency })
  const message = `amount: must be at most ${left} ${currency}: no more of the payment is left to refund.`
  return new Problem('amount_too_large', message, {
    param: 'amount',
    errors: [{ pointer: '/amount', code: 'amount_too_large', message }],
    members: { maximum: left, currency },
  })
}

/** `limitMicro`: what open refunds can require of payouts together, in micro-USDC; null: payouts pay for none. */
export function beyondLimit(limitMicro: MicroUsdc | null): Problem {
  if (limitMicro === null)
    return refuseField(
      'fund_from',
      'must not be next_payouts: an owner of the account must first allow it (Deductions in the dashboard)',
    )
  return new Problem(
    'limit_reached',
    `The open refunds that are paid for by your next payouts can require ${formatUsdc(limitMicro)} USDC together. Wait for one of them, cancel one, or pay for this one from a wallet.`,
  )
}
