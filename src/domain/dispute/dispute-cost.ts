import { type Funds, findSoldAccount, getSeized } from '../payment/funds/funds.ts'
import type { Dispute } from './dispute.ts'

type Cost = Pick<Dispute, 'fromReserveMicro' | 'fromPlatformMicro'>

const NOTHING: Cost = { fromReserveMicro: '0', fromPlatformMicro: '0' }

/**
 * Returns what each dispute of a payment has taken after the payout, in micro-USDC at the locked rate, rounded down. The
 * reserve pays first, for the disputes in their order. What was lost without a dispute is in no cost.
 */
export function splitCosts(
  funds: Funds,
  disputes: readonly Pick<Dispute, 'attemptId' | 'takenMinor'>[],
): readonly Cost[] {
  const { taken, payout } = funds
  const sold = findSoldAccount(funds)
  if (taken === null || sold === null || payout !== 'paid') return disputes.map(() => NOTHING)
  let seized = getSeized(funds)
  return disputes.map(({ attemptId, takenMinor }) => {
    if (attemptId !== sold.id) return NOTHING
    const micro = (taken.gross * BigInt(takenMinor)) / taken.units
    const fromReserve = micro < seized ? micro : seized
    seized -= fromReserve
    return { fromReserveMicro: fromReserve.toString(), fromPlatformMicro: (micro - fromReserve).toString() }
  })
}
