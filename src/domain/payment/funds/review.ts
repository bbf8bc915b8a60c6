import { isWithinPercent } from '../../money.ts'
import { isEnough } from './account.ts'
import { type Funds, findFittingSale, findOwnAccount, getExcess, getLoss } from './funds.ts'

/**
 * The facts for which a person is asked. Those of the first list stop the settlement; those of the second only ask. The
 * texts that people read are made of these facts with their amounts.
 */
export const STOPS = ['too_little', 'after_failure', 'sale_stuck', 'far_fill', 'payout_stopped'] as const
export const ASKS = ['odd_order', 'excess', 'loss'] as const
export type StopReason = (typeof STOPS)[number]
export type AskReason = (typeof ASKS)[number]
export type Reasons = { readonly stops: readonly StopReason[]; readonly asks: readonly AskReason[] }

/** Whole percent by which a fill may differ from what the locked rate gives. */
const FILL_PERCENT = 2

export function listReasons(funds: Funds): Reasons {
  const isSo: Record<StopReason | AskReason, boolean> = {
    too_little: isUnsold(funds) && !funds.agreed && isTooLittle(funds),
    after_failure: isUnsold(funds) && !funds.agreed && funds.closed === 'failed',
    sale_stuck: isUnsold(funds) && funds.stuck,
    far_fill: !funds.agreed && isFillFar(funds),
    payout_stopped: funds.payout === 'stopped',
    odd_order: funds.accounts.some(({ odd, accepted, held }) => odd && !accepted && held > 0n),
    excess: hasExcess(funds),
    loss: funds.accounts.some((account) => getLoss(funds, account) > account.writtenOff),
  }
  return { stops: STOPS.filter((reason) => isSo[reason]), asks: ASKS.filter((reason) => isSo[reason]) }
}

/** True if the payment has money that is not sold yet. */
const isUnsold = (funds: Funds): boolean => funds.taken === null && findOwnAccount(funds) !== null

function isTooLittle(funds: Funds): boolean {
  const own = findOwnAccount(funds)
  return own !== null && !isEnough(own, funds.tolerancePercent)
}

function isFillFar(funds: Funds): boolean {
  const sale = findFittingSale(funds)
  return (
    sale !== null && sale.fill !== null && !isWithinPercent(sale.fill.toString(), sale.gross.toString(), FILL_PERCENT)
  )
}

/** True if money that will not be settled waits, and nobody has decided where it goes. */
function hasExcess(funds: Funds): boolean {
  return funds.accounts.some(
    (account) => getExcess(funds, account) > 0n && account.word === 'paid' && account.back === 'no',
  )
}
