import type { MicroUsdc } from '../money.ts'
import type { Deduction } from '../payment/payment-object.ts'

/** The part that a payout lacks because it pays for a refund (`fund_from: next_payouts`). */

/** Micro-USDC that a payout pays at least: the rest of it can be deducted. */
export const LEAST_PAYOUT_MICRO = 1_000_000n

/** Days for which payouts are deducted, at the rate of the first one. */
export const DEDUCTION_DAYS = 7

/** Micro-USDC that a merchant can have payouts pay for at once, at most. It bounds what moves of the rate can cost. */
export const MOST_DEDUCTED_MICRO = 10_000_000_000n

/** A refund that waits for deductions, and what it needs beyond those that were made. */
export type Claim = { readonly refundId: string; readonly neededMicro: MicroUsdc }

/** Deducts for one refund, the oldest that needs USDC. `payoutMicro`: what the payout would pay; `claims`: the oldest first. */
export function decideDeduction(payoutMicro: MicroUsdc, claims: readonly Claim[]): Deduction | null {
  const claim = claims.find(({ neededMicro }) => BigInt(neededMicro) > 0n)
  const most = BigInt(payoutMicro) - LEAST_PAYOUT_MICRO
  if (claim === undefined || most <= 0n) return null
  const needed = BigInt(claim.neededMicro)
  return { refundId: claim.refundId, micro: (needed < most ? needed : most).toString(), releaseId: null }
}
