import { freeUnits, isOdd, isSellable } from './account.ts'
import { type Funds, findFittingSale, findOwnAccount, findSoldAccount, getShortage } from './funds.ts'
import { isHeld, listReasons } from './review.ts'

/** The next step for the funds. `sell` repeats under the key of its number until the converter has answered. */
export type MoneyStep =
  | { readonly do: 'void' | 'hand_over' | 'review' | 'done' }
  | { readonly do: 'await_buyer' | 'await_partner' | 'await_payout' | 'await_release' }
  | { readonly do: 'give_back'; readonly accountId: string }
  | { readonly do: 'end_sale' | 'take'; readonly number: number }
  | { readonly do: 'sell'; readonly accountId: string; readonly units: bigint }

/** The only rule for the next step of a payment's money. The first rule of the list that returns a step decides. */
export function findMoneyStep(funds: Funds): MoneyStep {
  for (const rule of RULES) {
    const step = rule(funds)
    if (step !== null) return step
  }
  return { do: 'done' }
}

const WAITING: readonly MoneyStep['do'][] = ['review', 'await_buyer', 'await_partner', 'await_payout', 'await_release']

/** True if only another party, or an operator, can continue. */
export const isWaiting = (step: MoneyStep): boolean => WAITING.includes(step.do)

type Rule = (funds: Funds) => MoneyStep | null

const RULES: readonly Rule[] = [
  protectPayout,
  giveBack,
  endSale,
  (funds) => (isHeld(funds) ? { do: 'await_release' } : null),
  handOver,
  (funds) => (listReasons(funds).stops.length > 0 ? { do: 'review' } : null),
  ({ payout }) => (payout === 'handed' ? { do: 'await_payout' } : null),
  sell,
  (funds) => (listReasons(funds).asks.length > 0 ? { do: 'review' } : null),
  awaitMoney,
]

/** A payout must not be paid if its money is not all there, or is to go back. */
function protectPayout(funds: Funds): MoneyStep | null {
  if (funds.payout === 'voiding') return { do: 'await_payout' }
  const sold = findSoldAccount(funds)
  const isUncovered = sold !== null && (getShortage(funds, sold) > 0n || sold.back !== 'no')
  return funds.payout !== 'paid' && isUncovered ? { do: 'void' } : null
}

/** A partner that was asked already is asked again by the readings of its order. */
function giveBack(funds: Funds): MoneyStep | null {
  const wanted = funds.accounts.find(({ back }) => back === 'wanted')
  return wanted === undefined ? null : { do: 'give_back', accountId: wanted.id }
}

/** Ends an open sale of other money than the payment has now, before anything else is sold. */
function endSale(funds: Funds): MoneyStep | null {
  const open = funds.sales.find(({ state }) => state === 'asked')
  if (open === undefined) return null
  const own = findOwnAccount(funds)
  const isWanted = own !== null && own.id === open.accountId && freeUnits(own) === open.units && isSellable(own)
  return isWanted ? null : { do: 'end_sale', number: open.number }
}

function handOver(funds: Funds): MoneyStep | null {
  const sold = findSoldAccount(funds)
  if (funds.payout !== 'none' || sold === null) return null
  if (isSellable(sold)) return { do: 'hand_over' }
  return { do: isOdd(sold) ? 'review' : 'await_partner' }
}

function sell(funds: Funds): MoneyStep | null {
  const own = findOwnAccount(funds)
  if (own === null || funds.taken !== null) return null
  const sale = findFittingSale(funds)
  return sale === null ? { do: 'sell', accountId: own.id, units: freeUnits(own) } : { do: 'take', number: sale.number }
}

/**
 * Without money the payment waits for its buyer; after its end, for money that still arrives or leaves. Withheld money
 * of a running payment has a review.
 */
function awaitMoney({ accounts, payout, closed, listens }: Funds): MoneyStep | null {
  const mayArrive = listens && accounts.some(({ report }) => report !== 'over' && report !== 'paid')
  const mayLeave = accounts.some(({ back }) => back !== 'no')
  const isOver = payout === 'paid' || payout === 'void' || closed !== null
  if (isOver) return mayArrive || mayLeave ? { do: 'await_partner' } : null
  const isConfirming = mayLeave || accounts.some(({ report }) => report === 'confirming')
  return { do: isConfirming ? 'await_partner' : 'await_buyer' }
}
