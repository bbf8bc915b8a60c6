import { type Account, freeUnits, isDust, isEnough, isOwedToBuyer, isSellable, positive } from './account.ts'

/** The payment's own money, the excess, the shortage and the loss are computed from these facts, never stored. */

/** An order at the converter. Each has its number, and is ended before another one is placed. */
export type Sale = {
  readonly number: number
  readonly accountId: string
  readonly units: bigint
  /** Micro-USDC at the locked rate. */
  readonly gross: bigint
  /** Micro-USDC that the converter has bought; null until it is filled. */
  readonly fill: bigint | null
  /** `ended`: it has bought nothing, and never will. */
  readonly state: 'asked' | 'filled' | 'ended'
}

/**
 * A sale that the payment has taken. It is frozen, with its fee, what is held back, and from the hand-over on what is
 * deducted for a refund, in micro-USDC.
 */
export type TakenSale = Sale & { readonly fee: bigint; readonly reserve: bigint; readonly deducted: bigint }

/**
 * The state of the payout as the payment knows it; the engine's states are in ../../settlement/payout.ts. `none`: not
 * handed to the settlement engine. `stopped`: an operator must decide. `voiding`: the engine is proving that it can
 * never be paid. `void`: that is proved, or it was never handed over and never will be.
 */
export const PAYMENT_PAYOUTS = ['none', 'handed', 'stopped', 'voiding', 'void', 'paid'] as const
export type PaymentPayout = (typeof PAYMENT_PAYOUTS)[number]

export type Funds = {
  readonly accounts: readonly Account[]
  readonly sales: readonly Sale[]
  /** The sale whose money is paid out; null: none yet. */
  readonly taken: TakenSale | null
  readonly payout: PaymentPayout
  /** Micro-USDC that the chain has paid to the merchant. */
  readonly paidOut: bigint
  /** Units of the sold money that are known to be lost. */
  readonly lost: bigint
  /** Micro-USDC that were released of what was held back. */
  readonly released: bigint
  /** True once a release pays what was deducted for a refund. */
  readonly isDeductionReleased: boolean
  /** How the payment was closed before money arrived; null: it was not. */
  readonly closed: 'expired' | 'canceled' | 'failed' | null
  /** False once late money is no longer expected: from then on no money can become the payment's. */
  readonly listens: boolean
  /** The accounts whose money arrived after their partner's time for late money: it can never become the payment's. */
  readonly late: readonly string[]
  readonly hold: boolean
  /** The account whose sale the converter has refused, or has not answered for half an hour; null: none. */
  readonly stuck: string | null
  /** The money that an operator settles as it is, by `nameMoney` or `namePayout`; null: none. */
  readonly agreed: string | null
  readonly tolerancePercent: bigint
  /** Whole percent by which a fill can differ from the gross at the locked rate. */
  readonly fillPercent: number
}

/** Returns the account whose money was sold; null before the sale is taken and after a void. */
export function findSoldAccount({ accounts, taken, payout }: Funds): Account | null {
  return taken === null || payout === 'void' ? null : (accounts.find(({ id }) => id === taken.accountId) ?? null)
}

/**
 * Returns the account whose money is the payment's. It is frozen once its money is sold. Before that it is the first
 * account that has the whole price, and of several the one that is being sold, or else the first that has any money.
 * After a void all money goes back to the buyer.
 */
export function findOwnAccount(funds: Funds): Account | null {
  if (funds.taken !== null || funds.payout === 'void') return findSoldAccount(funds)
  if (!funds.listens) return null
  const able = funds.accounts.filter(
    (account) => isSellable(account) && isOwedToBuyer(account) && !funds.late.includes(account.id),
  )
  const whole = able.filter((account) => isEnough(account, funds.tolerancePercent))
  return whole.find((account) => isBeingSold(funds, account)) ?? whole[0] ?? able[0] ?? null
}

/** True if the converter has an order for all of the account's money, and can still answer it in time. */
const isBeingSold = ({ sales, stuck }: Funds, account: Account): boolean =>
  stuck !== account.id &&
  sales.some((sale) => sale.state === 'asked' && sale.accountId === account.id && sale.units === freeUnits(account))

export const nameMoney = (account: Account): string => `${account.id}:${freeUnits(account)}`

export const namePayout = (micro: bigint): string => `payout:${micro}`

export function isAgreed(funds: Funds): boolean {
  const own = findOwnAccount(funds)
  return own !== null && funds.agreed === nameMoney(own)
}

export function getRest(funds: Funds, account: Account): bigint {
  if (funds.taken !== null && findSoldAccount(funds)?.id === account.id)
    return positive(freeUnits(account) + account.refunded - funds.taken.units)
  return findOwnAccount(funds)?.id === account.id ? 0n : freeUnits(account)
}

/** Returns the units beyond the payment's money, which must go back to the buyer. Dust stays. */
export function getExcess(funds: Funds, account: Account): bigint {
  const rest = getRest(funds, account)
  return isDust(account, rest) ? 0n : rest
}

/**
 * Returns the units that were sold of the account and are no longer there, unless a refund accounts for them. One that is
 * not over accounts only for units that were not lost before.
 */
export function getShortage(funds: Funds, account: Account): bigint {
  if (funds.taken === null || findSoldAccount(funds)?.id !== account.id) return 0n
  const missing = positive(funds.taken.units - freeUnits(account) - account.refunded)
  const lost = missing < funds.lost ? missing : funds.lost
  return lost + positive(missing - lost - account.refunding)
}

/** Returns the units that refunds have taken of the sold money: those that succeeded, and at most those not over. */
export function getRefunded(funds: Funds, account: Account): bigint {
  if (funds.taken === null || findSoldAccount(funds)?.id !== account.id) return 0n
  return funds.taken.units - freeUnits(account) + getRest(funds, account) - getShortage(funds, account)
}

/**
 * Returns what chargebacks have taken of the reserve, in micro-USDC: at the locked rate what is lost now, rounded down,
 * and at most what was not released. What the merchant wins back is held back again.
 */
export function getSeized(funds: Funds): bigint {
  const { taken, payout, released } = funds
  const sold = findSoldAccount(funds)
  if (taken === null || sold === null || payout !== 'paid') return 0n
  const lost = (taken.gross * getShortage(funds, sold)) / taken.units
  const left = taken.reserve - released
  return lost < left ? lost : left
}

/** Returns what is held back now, in micro-USDC. */
export function getHeldBack(funds: Funds): bigint {
  if (funds.taken === null || findSoldAccount(funds) === null) return 0n
  return funds.taken.reserve - funds.released - getSeized(funds)
}

/** Returns what the payout pays, in micro-USDC. */
export const getDue = ({ gross, fee, reserve, deducted }: TakenSale): bigint => gross - fee - reserve - deducted

/** Returns the units that are lost for good: the merchant was paid for them, or the buyer has them twice. */
export function getLoss(funds: Funds, account: Account): bigint {
  const afterPayout = funds.payout === 'paid' ? getShortage(funds, account) : 0n
  return afterPayout + positive(account.outside - account.held)
}

/** Returns the filled sale of exactly the money that the own account has now; null: it must be sold first. */
export function findFittingSale(funds: Funds): Sale | null {
  const own = findOwnAccount(funds)
  if (own === null || funds.taken !== null) return null
  return (
    funds.sales.find((sale) => sale.state === 'filled' && sale.accountId === own.id && sale.units === freeUnits(own)) ??
    null
  )
}

/**
 * Returns the funds after a payout that is proved on chain. Its transfer might have been faster than a void: then the
 * money that it paid for is not given back, unless the partner was asked already. A payout that is missing in a
 * restored backup might be for any of the money.
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
