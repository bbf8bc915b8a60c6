import type { LocalAccount } from 'viem/accounts'
import type { SettlementJournal } from '../db/settlement/journal.ts'
import type { Hex } from '../domain/hex.ts'
import type { Rest } from '../domain/settlement/part.ts'
import type { TransferLimits } from '../domain/settlement/payout.ts'
import type { Treasury } from '../domain/settlement/treasuries.ts'
import type { Token, TreasurySigner } from './authorization.ts'
import type { PayoutCodec } from './codec.ts'
import type { DepositKeys } from './deposits/deposit-keys.ts'
import type { Rpc } from './rpc/rpc.ts'

export type SettlementLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type SettlementOptions = {
  /** Random for each start: it differs from every other engine's and from the previous start's. */
  readonly owner: string
  /** Milliseconds that a lease lasts after the engine stops renewing it. */
  readonly leaseMs: number
  /** Seconds for which an authorization is valid after it was signed. */
  readonly authorizationSeconds: number
  /**
   * Maximum number of unmined envelopes of one lane. Bor guarantees 16 pool slots per account; a full batch takes two.
   */
  readonly maxInFlight: number
  /** Blocks after which the price of the lane's lowest unmined nonce is raised. */
  readonly bumpAfterBlocks: number
  /** Minimum milliseconds since it was signed before its price is raised, by the database's clock. */
  readonly bumpAfterMs: number
  /** Milliseconds after which the stored bytes of an unmined transaction are sent again. */
  readonly rebroadcastMs: number
  /** Maximum wei that a transaction may pay for one unit of gas. */
  readonly maxFeeWei: bigint
  /** First block to read when there is no cursor yet. Default: the finalized block of the first start. */
  readonly startBlock?: number
  /** Maximum micro-USDC that each treasury may authorize within 24 hours. */
  readonly maxMicroPerDay: bigint
  readonly limits: TransferLimits
  /** Milliseconds that a payout may wait for funds before it is stopped: top-ups arrive in batches. */
  readonly fundsGraceMs: number
}

/** Values for Polygon. */
export const SETTLEMENT_DEFAULTS = {
  leaseMs: 5000,
  authorizationSeconds: 45 * 60,
  maxInFlight: 8,
  bumpAfterBlocks: 4,
  bumpAfterMs: 8000,
  rebroadcastMs: 4000,
  fundsGraceMs: 60_000,
} as const satisfies Partial<SettlementOptions>

/**
 * Returns true if `at` is less than `ms` milliseconds ago. A time in the future is not recent: the clock was set back
 * since, or another worker's clock is ahead, and the caller must not wait until that time arrives.
 */
export const isRecent = (at: number, now: number, ms: number): boolean => now >= at && now - at < ms

/** Returns true once a minute, for log lines that every round would repeat. */
export function createMinutely(clock: () => Date): () => boolean {
  let at = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock().getTime()
    if (isRecent(at, now, 60_000)) return false
    at = now
    return true
  }
}

/** Blocks behind the head for which a pruning node still has the state: Bor and geth retain 128. */
export const RETAINED_STATES = 100

/**
 * Throws if the newest block of a quorum is below a block that was final: its balances still contain what was settled
 * since, and that money is no longer reserved.
 */
export function assertNotBehind({ number }: { readonly number: number }, final: number): void {
  if (number < final)
    throw new Error(`a quorum is at block ${number}, behind block ${final} that was final: it must catch up`)
}

/** Maximum seconds by which the clock of an engine that signs may be ahead of the chain's. */
export const CLOCK_MARGIN = 600

/** Returns the seconds after which everything that was signed until now has expired. */
export const longestValidity = ({ authorizationSeconds }: Pick<SettlementOptions, 'authorizationSeconds'>): number =>
  authorizationSeconds + CLOCK_MARGIN

/** Returns the wallets whose keys send transactions: the relayers, and the wallet that supplies them with gas money. */
export const laneWallets = ({ relayers, funding }: Pick<SettlementDeps, 'relayers' | 'funding'>): Hex[] =>
  [...relayers, ...(funding === null ? [] : [funding.account])].map(({ address }) => address.toLowerCase() as Hex)

export const watchedTreasuries = ({ treasuryList }: Pick<SettlementDeps, 'treasuryList'>): Hex[] =>
  treasuryList.map(({ address }) => address)

export type DepositDeps = {
  /** Null: transfers to the addresses are read but not swept. */
  readonly keys: DepositKeys | null
  readonly wrongTokens: readonly Hex[]
}

/** A wallet with POL that tops up the relayers. It has no USDC. */
export type Funding = {
  readonly account: LocalAccount
  /** Minimum wei of one top-up. */
  readonly wei: bigint
  /** Maximum wei for one relayer within 24 hours. A higher need means a fault or a theft. */
  readonly maxWeiPerDay: bigint
}

export type SettlementDeps = {
  readonly journal: SettlementJournal
  readonly rpc: Rpc
  readonly codec: PayoutCodec
  readonly token: Token
  /** The treasuries whose keys are here. The first one receives the sweeps. */
  readonly treasuries: readonly TreasurySigner[]
  /** Every treasury, with or without its key here. The list decides which one pays a payment. */
  readonly treasuryList: readonly Treasury[]
  readonly relayers: readonly LocalAccount[]
  /** Null: an operator tops up the relayers. */
  readonly funding: Funding | null
  /** Null: payments have no deposit addresses. */
  readonly deposits: DepositDeps | null
  readonly clock: () => Date
  readonly log: SettlementLog
  readonly options: SettlementOptions
}

/**
 * The result of a round of signing or sending. From it the runner decides which part need not wait for the next round.
 */
export type Progress = {
  readonly done: number
  /** True if more payouts may be able to advance at once. */
  readonly more: boolean
  /** True if signing is so far ahead of the lanes that it waits until something is sent. */
  readonly ahead: boolean
  /** Why payouts wait although nothing is wrong with them; null if none does. */
  readonly rest: Rest | null
  /** A failure that did not end the round, in words; null if there was none. */
  readonly failure: string | null
}

export const NOTHING: Progress = { done: 0, more: false, ahead: false, rest: null, failure: null }
