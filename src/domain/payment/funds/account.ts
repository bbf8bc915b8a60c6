/**
 * Each order of the buyer is an account: the money that its partner reports, and the decisions about it. Amounts are
 * whole units of the asset: minor units of a currency, or micro-USDC.
 */

/** The partner's last report about its order. `over`: it will bring no more money. */
export const REPORTS = ['open', 'confirming', 'withheld', 'paid', 'over'] as const
export type Report = (typeof REPORTS)[number]

/**
 * `odd`: the order differs from the requested one, and an operator must decide. `accepted`: it differs, and can be
 * settled. `other_token`: another token than USDC is at the address, and no operator has dealt with it.
 */
export type AccountMisfit = 'none' | 'odd' | 'accepted' | 'other_token'

/** A give-back through the partner; it is stored before the partner is asked. */
export type GiveBack = 'no' | 'wanted' | 'asked'

export type Account = {
  readonly id: string
  /** A fiat currency, or `USDC` at an address of the platform. */
  readonly asset: string
  readonly asked: bigint
  readonly report: Report
  /** The units of the buyer's money that the partner, or the chain, has. Each newer reading replaces them. */
  readonly held: bigint
  /** The units that the buyer got back from elsewhere: the only fact about money that an operator reports. */
  readonly outside: bigint
  readonly misfit: AccountMisfit
  /** True if the partner has been confirming for longer than it is allowed to. */
  readonly silent: boolean
  readonly back: GiveBack
  /** True if money of it was given back. Money that arrives after that is a second payment, and goes back by hand. */
  readonly returned: boolean
  readonly writtenOff: bigint
  /** Units of the paid-out money that refunds have given to the buyer. */
  readonly refunded: bigint
  /** Units of refunds whose USDC is there: the partner might have given them to the buyer. */
  readonly refunding: bigint
}

const USDC = 'USDC'

/** Less than 0.01 USDC that no payment waits for needs no operator: anybody can send it to any address. */
export const DUST_MICRO = 10_000n

export const positive = (units: bigint): bigint => (units > 0n ? units : 0n)

/** The units that the buyer has not got back. */
export const freeUnits = ({ held, outside }: Account): bigint => positive(held - outside)

export const isOnChain = ({ asset }: Pick<Account, 'asset'>): boolean => asset === USDC

/** True if so little of the account’s money belongs to the platform unless the payment takes it. */
export const isDust = (account: Pick<Account, 'asset'>, units: bigint): boolean =>
  isOnChain(account) && units < DUST_MICRO

export const isOwedToBuyer = (account: Account): boolean =>
  freeUnits(account) > 0n && !isDust(account, freeUnits(account))

/** True if the partner was asked to give the money back before the buyer got it from elsewhere. */
export const mayReturnTwice = ({ back, outside }: Pick<Account, 'back' | 'outside'>): boolean =>
  back === 'asked' && outside > 0n

export const isOdd = ({ misfit }: Account): boolean => misfit === 'odd'

export const hasOtherToken = ({ misfit }: Account): boolean => misfit === 'other_token'

/** The partner has released the money, its order is not odd, and it is not to go back. */
export const isSellable = (account: Account): boolean =>
  account.report === 'paid' && account.back === 'no' && !account.returned && !isOdd(account)

/** True if the account has enough. `tolerancePercent`: whole percent of the asked amount that can be missing. */
export const isEnough = (account: Account, tolerancePercent: bigint): boolean =>
  freeUnits(account) * 100n >= account.asked * (100n - tolerancePercent)
