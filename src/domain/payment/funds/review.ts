import { isWithinPercent } from '../../money.ts'
import { type Account, hasOtherToken, isEnough, isOdd, isOwedToBuyer, mayReturnTwice } from './account.ts'
import {
  type Funds,
  findFittingSale,
  findOwnAccount,
  findSoldAccount,
  getDue,
  getExcess,
  getLoss,
  isAgreed,
  namePayout,
} from './funds.ts'

/**
 * The facts that an operator must decide about. Those of the first list stop the settlement; those of the second do
 * not. The texts for people are made of these facts with their amounts (../reviews.ts).
 */
export const STOPS = ['too_little', 'after_failure', 'sale_stuck', 'far_fill', 'payout_stopped'] as const
export const ASKS = [
  'odd_order',
  'other_token',
  'withheld',
  'silent',
  'excess',
  'loss',
  'unexpected_payout',
  'held',
] as const
export type StopReason = (typeof STOPS)[number]
export type AskReason = (typeof ASKS)[number]
export type Reasons = { readonly stops: readonly StopReason[]; readonly asks: readonly AskReason[] }

export function listReasons(funds: Funds): Reasons {
  const applies: Record<StopReason | AskReason, boolean> = {
    too_little: isUnsold(funds) && !isAgreed(funds) && isTooLittle(funds),
    after_failure: isUnsold(funds) && !isAgreed(funds) && funds.closed === 'failed',
    sale_stuck: isUnsold(funds) && isSaleStuck(funds),
    far_fill: !isAgreed(funds) && isFillFar(funds),
    payout_stopped: funds.payout === 'stopped',
    odd_order: funds.accounts.some(isOdd),
    other_token: funds.accounts.some(hasOtherToken),
    withheld: waitsForPartner(funds, 'withheld'),
    silent: waitsForPartner(funds, 'confirming') && funds.accounts.some(isSilent),
    excess: funds.accounts.some((account) => waitsAsExcess(funds, account)),
    loss: funds.accounts.some((account) => isUnknownLoss(funds, account)),
    unexpected_payout: isPayoutUnexpected(funds),
    held: isHeld(funds),
  }
  return { stops: STOPS.filter((reason) => applies[reason]), asks: ASKS.filter((reason) => applies[reason]) }
}

export const isSilent = ({ silent, report }: Account): boolean => silent && report === 'confirming'

const isUnsold = (funds: Funds): boolean => funds.taken === null && findOwnAccount(funds) !== null

/** True if the sale hangs. A hanging sale of other money also keeps the payment's money from being sold. */
function isSaleStuck(funds: Funds): boolean {
  const { stuck, sales } = funds
  const isHanging = sales.some(({ state, accountId }) => state === 'asked' && accountId === stuck)
  return isHanging || findOwnAccount(funds)?.id === stuck
}

function isTooLittle(funds: Funds): boolean {
  const own = findOwnAccount(funds)
  return own !== null && !isEnough(own, funds.tolerancePercent)
}

function isFillFar(funds: Funds): boolean {
  const sale = findFittingSale(funds)
  return (
    sale !== null &&
    sale.fill !== null &&
    !isWithinPercent(sale.fill.toString(), sale.gross.toString(), funds.fillPercent)
  )
}

/** True if a running payment needs, or a void payment still has, money that waits for the partner's report. */
function waitsForPartner(funds: Funds, report: 'withheld' | 'confirming'): boolean {
  if (funds.payout === 'void')
    return funds.accounts.some((account) => account.report === report && isOwedToBuyer(account))
  if (funds.payout !== 'none') return false
  const sold = findSoldAccount(funds)
  if (sold !== null) return sold.report === report
  const isOpen = funds.closed === null && findOwnAccount(funds) === null
  return isOpen && funds.accounts.some((account) => account.report === report)
}

/** True if money waits that will not be settled. While it might still be, the partner's report is awaited. */
export function waitsAsExcess(funds: Funds, account: Account): boolean {
  const isKnown = account.report === 'paid' || isPast(funds)
  const isGoingBack = account.back !== 'no' && !mayReturnTwice(account)
  return getExcess(funds, account) > 0n && isKnown && !isGoingBack && !isOdd(account)
}

/** True if new money cannot be settled. After a void the partner's report is awaited until the listening ends. */
const isPast = (funds: Funds): boolean => funds.payout === 'paid' || (!funds.listens && findSoldAccount(funds) === null)

export const isUnknownLoss = (funds: Funds, account: Account): boolean => getLoss(funds, account) > account.writtenOff

/** True if the chain has paid the merchant another sum than the sold one. */
function isPayoutUnexpected({ payout, taken, paidOut, agreed }: Funds): boolean {
  return payout === 'paid' && agreed !== namePayout(paidOut) && (taken === null || paidOut !== getDue(taken))
}

/** True if a hold keeps the payment's money from continuing, as long as the money could continue. */
export function isHeld(funds: Funds): boolean {
  const isOver = funds.payout === 'paid' || funds.payout === 'voiding'
  return funds.hold && !isOver && findOwnAccount(funds) !== null
}
