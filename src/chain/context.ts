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
  /** Random for each start, so that it differs from every other engine's and from that of the start before. */
  readonly owner: string
  /** How long a lease holds when the engine stops renewing it. */
  readonly leaseMs: number
  /** How long an authorization can be used after it was signed. */
  readonly authorizationSeconds: number
  /** Most unmined envelopes of one lane. Bor guarantees 16 pool slots per account; a full batch takes two. */
  readonly maxInFlight: number
  /** Blocks without the lane's lowest nonce, after which its price is raised. */
  readonly bumpAfterBlocks: number
  /** And so many milliseconds since it was signed, by the clock of the database. */
  readonly bumpAfterMs: number
  /** Time after which the stored bytes of an unmined transaction are sent again. */
  readonly rebroadcastMs: number
  /** Most wei that a transaction may pay for one unit of gas. */
  readonly maxFeeWei: bigint
  /** First block to read when there is no cursor yet. Default: the finalized block of the first start. */
  readonly startBlock?: number
  /** Most micro-USDC that each treasury may authorize within 24 hours. */
  readonly maxMicroPerDay: bigint
  /** Limits for transfers that no payout claims. */
  readonly limits: TransferLimits
  /** How long a payout may wait for funds before it is held: top-ups come in batches. */
  readonly fundsGraceMs: number
}

/** Values for Polygon. SettlementOptions explains each. */
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
 * Whether it is less than so many milliseconds ago. What is still to come is not: the clock was set back since, or is another
 * worker's, and what waits for a time must not wait for as long as that clock was ahead.
 */
export const isRecent = (at: number, now: number, ms: number): boolean => now >= at && now - at < ms

/** Returns true once a minute: for lines of the log that every round would repeat. */
export function createMinutely(clock: () => Date): () => boolean {
  let at = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock().getTime()
    if (isRecent(at, now, 60_000)) return false
    at = now
    return true
  }
}

/** Blocks back from the head of which a node that prunes still has the state: Bor and geth keep 128. */
export const KEPT_STATES = 100

/**
 * Throws when the newest block of a quorum is below one that was final: what was settled since is in the balances of then,
 * and reserved no more.
 */
export function assertNotBehind({ number }: { readonly number: number }, final: number): void {
  if (number < final)
    throw new Error(`a quorum is at block ${number}, behind block ${final} that was final: it must catch up`)
}

/** Most seconds by which the clock of an engine that signs may be ahead of the chain's. */
export const CLOCK_MARGIN = 600

/** The seconds after which nothing is valid any more that was signed until now. */
export const longestValidity = ({ authorizationSeconds }: Pick<SettlementOptions, 'authorizationSeconds'>): number =>
  authorizationSeconds + CLOCK_MARGIN

/** The wallets whose keys send transactions: the relayers, and the one that supplies them with gas money. */
export const laneWallets = ({ relayers, funding }: Pick<SettlementDeps, 'relayers' | 'funding'>): Hex[] =>
  [...relayers, ...(funding === null ? [] : [funding.account])].map(({ address }) => address.toLowerCase() as Hex)

/** Every wallet that is or was our treasury. */
export const watchedTreasuries = ({ treasuryList }: Pick<SettlementDeps, 'treasuryList'>): Hex[] =>
  treasuryList.map(({ address }) => address)

/**
 * For USDC at addresses of payments: the addresses' keys, and other tokens that buyers send there by mistake.
 */
export type DepositDeps = {
  /** Null: transfers to the addresses are read but not swept. */
  readonly keys: DepositKeys | null
  readonly wrongTokens: readonly Hex[]
}

/** A wallet with POL from which the relayers are topped up. It holds no USDC. */
export type Funding = {
  readonly account: LocalAccount
  /** Least wei of one top-up. */
  readonly wei: bigint
  /** Most wei for one relayer within 24 hours. A need for more means a fault or a theft. */
  readonly maxWeiPerDay: bigint
}

export type SettlementDeps = {
  readonly journal: SettlementJournal
  readonly rpc: Rpc
  readonly codec: PayoutCodec
  readonly token: Token
  /** The treasuries whose keys we have. The first one gets what is swept. */
  readonly treasuries: readonly TreasurySigner[]
  /** Every treasury, with its key here or not. Which one pays a payment follows from it. */
  readonly treasuryList: readonly Treasury[]
  readonly relayers: readonly LocalAccount[]
  /** Null: an operator tops up the relayers. */
  readonly funding: Funding | null
  /** Null: payments have no addresses for USDC. */
  readonly deposits: DepositDeps | null
  readonly clock: () => Date
  readonly log: SettlementLog
  readonly options: SettlementOptions
}

/** What a round of signing or sending did. It tells the runner which part need not wait for the next round. */
export type Progress = {
  /** How many payouts advanced. */
  readonly done: number
  /** Whether more payouts may be able to advance at once. */
  readonly more: boolean
  /** Whether signing is so far ahead of the lanes that it waits until something is sent. */
  readonly ahead: boolean
  /** Why payouts wait although nothing is wrong with them; null: none does. */
  readonly rest: Rest | null
  /** A failure that did not end the round, in words; null: none. */
  readonly failure: string | null
}

export const NOTHING: Progress = { done: 0, more: false, ahead: false, rest: null, failure: null }
