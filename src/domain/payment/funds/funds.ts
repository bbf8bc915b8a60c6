import { type Account, freeUnits, isDust, isEnough, isSellable, isWorth, positive } from './account.ts'

/**
 * The funds of a payment: its accounts, what was sold of them, and its payout. Whose money is the payment's, what is too
 * much, what is missing and what is lost are computed from these facts and never stored.
 */

/** An order at the converter. Each has its own number, and is ended before another one is asked for. */
export type Sale = {
  readonly number: number
  readonly accountId: string
  readonly units: bigint
  /** Micro-USDC that the locked rate gives. */
  readonly gross: bigint
  /** Micro-USDC that the converter has bought; null until it is filled. */
  readonly fill: bigint | null
  /** `ended`: it has bought nothing, and never will. */
  readonly state: 'asked' | 'filled' | 'ended'
}

/** A sale that the payment has taken is frozen, with its fee in micro-USDC. */
export type TakenSale = Sale & { readonly fee: bigint }

/**
 * `none`: not handed to the settlement engine. `stopped`: an operator must decide. `voiding`: the engine proves that it can
 * never be paid. `void`: proved, or never handed over and never will be.
 */
export type PayoutState = 'none' | 'handed' | 'stopped' | 'voiding' | 'void' | 'paid'

export type Funds = {
  readonly accounts: readonly Account[]
  readonly sales: readonly Sale[]
  /** The sale whose money is paid out; null: none yet. */
  readonly taken: TakenSale | null
  readonly payout: PayoutState
  /** Micro-USDC that the chain has paid to the merchant. */
  readonly paidOut: bigint
  /** How it was closed before its money came; null: it was not. */
  readonly closed: 'expired' | 'canceled' | 'failed' | null
  /** False once late money is no longer expected: from then on no money can become the payment's. */
  readonly listens: boolean
  /** The accounts whose money came after their partner's time for late money: it can never become the payment's. */
  readonly late: readonly string[]
  readonly hold: boolean
  /** The account whose sale the converter has refused, or has not answered for half an hour; null: none. */
  readonly stuck: string | null
  /** The money that an operator settles as it is, by `nameMoney` or `namePayout`; null: none. Of other money nothing was said. */
  readonly agreed: string | null
  readonly tolerancePercent: bigint
  /** Whole percent by which a fill may differ from what the locked rate gives. */
  readonly fillPercent: number
}

/** The account whose money is sold, while its payout can still be paid, or is. */
export function findSoldAccount({ accounts, taken, payout }: Funds): Account | null {
  return taken === null || payout === 'void' ? null : (accounts.find(({ id }) => id === taken.accountId) ?? null)
}

/**
 * The account whose money is the payment's. It is frozen once its money is sold. Before that it is the first account that
 * has the whole price, and of several the one that is being sold, or else the first that has any money. After a void
 * everything goes back to the buyer.
 */
export function findOwnAccount(funds: Funds): Account | null {
  if (funds.taken !== null || funds.payout === 'void') return findSoldAccount(funds)
  if (!funds.listens) return null
  const able = funds.accounts.filter(
    (account) => isSellable(account) && isWorth(account) && !funds.late.includes(account.id),
  )
  const whole = able.filter((account) => isEnough(account, funds.tolerancePercent))
  return whole.find((account) => isBeingSold(funds, account)) ?? whole[0] ?? able[0] ?? null
}

/** The converter has an order of all of its money, and may still answer it in time. */
const isBeingSold = ({ sales, stuck }: Funds, account: Account): boolean =>
  stuck !== account.id &&
  sales.some((sale) => sale.state === 'asked' && sale.accountId === account.id && sale.units === freeUnits(account))

/** Names so much money of this account. */
export const nameMoney = (account: Account): string => `${account.id}:${freeUnits(account)}`

/** Names so much money that the chain has paid. */
export const namePayout = (micro: bigint): string => `payout:${micro}`

/** True if an operator settles exactly the money that the payment has. */
export function isAgreed(funds: Funds): boolean {
  const own = findOwnAccount(funds)
  return own !== null && funds.agreed === nameMoney(own)
}

/** Returns the units that the payment does not take. */
export function getRest(funds: Funds, account: Account): bigint {
  if (funds.taken !== null && findSoldAccount(funds)?.id === account.id)
    return positive(freeUnits(account) - funds.taken.units)
  return findOwnAccount(funds)?.id === account.id ? 0n : freeUnits(account)
}

/** Returns the units beyond the payment's money: somebody must give them back. Dust stays. */
export function getExcess(funds: Funds, account: Account): bigint {
  const rest = getRest(funds, account)
  return isDust(account, rest) ? 0n : rest
}

/** Returns the units that were sold of the account and are not there any more. */
export function getShortage(funds: Funds, account: Account): bigint {
  if (funds.taken === null || findSoldAccount(funds)?.id !== account.id) return 0n
  return positive(funds.taken.units - freeUnits(account))
}

/** Returns the units that are lost for good: the merchant was paid for them, or the buyer has them twice. */
export function getLoss(funds: Funds, account: Account): bigint {
  const afterPayout = funds.payout === 'paid' ? getShortage(funds, account) : 0n
  return afterPayout + positive(account.outside - account.held)
}

/** The filled sale of exactly the money that the own account has now; null: it must be sold first. */
export function findFittingSale(funds: Funds): Sale | null {
  const own = findOwnAccount(funds)
  if (own === null || funds.taken !== null) return null
  return (
    funds.sales.find((sale) => sale.state === 'filled' && sale.accountId === own.id && sale.units === freeUnits(own)) ??
    null
  )
}

/**
 * The payout is proved on chain. Its transfer may have been faster than a void: the money that it paid for is not given back
 * then, unless the partner was asked already. A payout that a restored backup has forgotten may be for any of the money.
 */
export function withPaidOut(funds: Funds, paidOut: bigint): Funds {
  const { taken } = funds
  const accounts = funds.accounts.map((account) =>
    account.back === 'wanted' && (taken === null || taken.accountId === account.id)
      ? { ...account, back: 'no' as const }
      : account,
  )
  return { ...funds, payout: 'paid', paidOut, accounts }
}
