import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../domain/hex.ts'
import type { Token, TreasurySigner } from './authorization.ts'
import type { PayoutCodec } from './codec.ts'
import type { DepositKeys } from './deposits/deposit-keys.ts'
import type { SettlementJournal } from './journal.ts'
import type { Rpc } from './rpc/rpc.ts'

export type SettlementLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type SettlementOptions = {
  /** Distinguishes this engine from every other one, also from its own predecessor: a new random value per start. */
  readonly owner: string
  /** How long a lease holds after the engine stopped renewing it. */
  readonly leaseMs: number
  /** How long an authorization can be used after it was signed. */
  readonly authorizationSeconds: number
  /** Envelopes of one lane that are not mined yet. Bor guarantees 16 pool slots per account; a full batch takes two. */
  readonly maxInFlight: number
  /** Blocks that may pass without the lowest nonce before its price is raised. */
  readonly bumpAfterBlocks: number
  /** The stored bytes of an unmined transaction are sent again after this time. */
  readonly rebroadcastMs: number
  /** Wei for one unit of gas that no transaction exceeds. */
  readonly maxFeeWei: bigint
  /** First block to read when there is no cursor yet; absent: the finalized block of the first start. */
  readonly startBlock?: number
  /** Treasuries of the past whose keys are gone: their transfers are watched, and what they paid is not paid again. */
  readonly retiredTreasuries: readonly Hex[]
  /** Micro-USDC that may be authorized within 24 hours, for each treasury. */
  readonly maxMicroPerDay: bigint
  /** How long a payout may wait for funds before it is held: top-ups come in batches. */
  readonly fundsGraceMs: number
}

/** Chosen for Polygon; each is explained in SettlementOptions. */
export const SETTLEMENT_DEFAULTS = {
  leaseMs: 5000,
  authorizationSeconds: 45 * 60,
  maxInFlight: 8,
  bumpAfterBlocks: 4,
  rebroadcastMs: 4000,
  fundsGraceMs: 60_000,
  retiredTreasuries: [],
} as const satisfies Partial<SettlementOptions>

/** Every wallet that is or was a treasury of ours. */
export function watchedTreasuries(deps: Pick<SettlementDeps, 'treasuries' | 'options'>): Hex[] {
  return [...deps.treasuries.map((treasury) => treasury.address), ...deps.options.retiredTreasuries]
}

/**
 * What is needed to take USDC at addresses of payments: their keys, and the other tokens that buyers send there by mistake.
 */
export type DepositDeps = {
  /** Null: what comes is read, and not swept. */
  readonly keys: DepositKeys | null
  readonly wrongTokens: readonly Hex[]
}

/** A wallet with the chain's own coin from which the relayers get their gas money. It holds no USDC. */
export type Funding = {
  readonly account: LocalAccount
  /** Wei that are sent at least at a time. */
  readonly wei: bigint
  /** Wei for one relayer within 24 hours: more goes to a fault or a thief. */
  readonly maxWeiPerDay: bigint
}

export type SettlementDeps = {
  readonly journal: SettlementJournal
  readonly rpc: Rpc
  readonly codec: PayoutCodec
  readonly token: Token
  /** The treasuries whose keys are here, the current one first: after a rotation the old one pays what was queued on it. */
  readonly treasuries: readonly TreasurySigner[]
  readonly relayers: readonly LocalAccount[]
  /** Null: the relayers get their gas money by hand. */
  readonly funding: Funding | null
  /** Null: no payment has an address here. */
  readonly deposits: DepositDeps | null
  readonly clock: () => Date
  readonly log: SettlementLog
  readonly options: SettlementOptions
}

/** What a round of signing or sending did, and so who need not wait for the next round. */
export type Progress = {
  /** Payouts that went a step further. */
  readonly done: number
  /** There may be more that can do so at once. */
  readonly more: boolean
  /** Signing is so far ahead of the lanes that it goes on when something is sent. */
  readonly ahead: boolean
}

export const NOTHING: Progress = { done: 0, more: false, ahead: false }
