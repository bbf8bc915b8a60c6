import type { Hex } from '../hex.ts'
import { formatUsdc, type MicroUsdc } from '../money.ts'

/** One payout: the USDC transfer of one payment, as the settlement engine and the database see it. */

/** Only `settled` and `voided` end a payout. */
export const PAYOUT_STATES = [
  'queued',
  'authorized',
  'assigned',
  'broadcast',
  'mined',
  'settled',
  'stopped',
  'voiding',
  'voided',
] as const
export type PayoutState = (typeof PAYOUT_STATES)[number]

/**
 * Why a payout is stopped. `funds`: the treasury has too little USDC. `limit`: it has signed its limit for 24 hours.
 */
export const PAYOUT_STOP_REASONS = ['funds', 'limit', 'blacklisted', 'policy', 'refused', 'operator'] as const
export type PayoutStopReason = (typeof PAYOUT_STOP_REASONS)[number]

export type StoppedPayout = {
  readonly ownerId: string
  readonly reason: PayoutStopReason
  readonly detail: string
}

/** Stops that end automatically when their cause ends; the others wait for an operator. */
export const PASSING_STOPS: readonly PayoutStopReason[] = ['funds', 'limit']

/** The amount and the recipient: fixed when the payout is queued. */
export type Payout = {
  readonly ownerId: string
  readonly livemode: boolean
  readonly chainId: number
  readonly token: Hex
  readonly treasury: Hex
  readonly recipient: Hex
  readonly microUsdc: MicroUsdc
  readonly authNonce: Hex
  readonly state: PayoutState
  readonly stopReason: PayoutStopReason | null
  readonly refusals: number
  readonly createdAt: Date
}

/** An authorization signed by the treasury. `validBefore` is in Unix seconds; null for a cancellation. */
export type PayoutSignature = {
  readonly kind: 'transfer' | 'cancel'
  readonly validBefore: number | null
  readonly signature: Hex
}

export type SignedPayout = Payout & { readonly signed: PayoutSignature }

/** The lease of the leading engine: every write carries its epoch, and fails after a newer epoch. */
export type Lease = { readonly owner: string; readonly epoch: string }

export type LaneStatus = 'open' | 'paused_gas' | 'quarantined'

export type Lane = {
  readonly chainId: number
  readonly wallet: Hex
  readonly lease: Lease
  readonly nextNonce: number
  readonly status: LaneStatus
}

/** One signed transaction of an envelope. Fees are wei for one unit of gas. */
export type EnvelopeAttempt = {
  readonly attempt: number
  readonly txHash: Hex
  readonly maxFee: bigint
  readonly tip: bigint
  readonly signedBlock: number
  /** Milliseconds since it was signed. */
  readonly ageMs: number
  readonly lastBroadcastAt: Date | null
  /** True if a quorum of nodes last reported that it costs more than they accept for one transaction. */
  readonly isTooExpensive: boolean
}

export type FinalTransaction = {
  readonly txHash: Hex
  readonly blockNumber: number
  readonly gasUsed: bigint
  /** Wei for one unit of gas. */
  readonly gasPrice: bigint
}

/** An envelope that is not final: the transaction of one nonce, with every attempt to send it. */
export type Envelope = {
  readonly nonce: number
  /** Milliseconds since its nonce was taken. */
  readonly ageMs: number
  readonly target: Hex
  /** Wei that it sends: gas money for a relayer, otherwise zero. */
  readonly value: bigint
  readonly gasLimit: bigint
  readonly attempts: readonly EnvelopeAttempt[]
}

export type Sending = { readonly target: Hex; readonly calldata: Hex; readonly gasLimit: bigint }

export type Reserved = Sending & { readonly nonce: number; readonly items: number }

/** The content of an envelope: `encode` receives the payouts that were still free when the nonce was taken. */
export type Reservation = {
  readonly payouts: readonly SignedPayout[]
  readonly encode: (payouts: readonly SignedPayout[]) => Sending
}

export type EnvelopeEnd = { readonly nonce: number } & EnvelopeOutcome
type EnvelopeOutcome =
  | ({ readonly state: 'finalized' } & FinalTransaction)
  /** Another transaction used it: none of the platform's attempts can be mined any more. */
  | { readonly state: 'foreign' }

export type GasSpent = { readonly chainId: number; readonly wallet: Hex; readonly nonce: number; readonly wei: bigint }

/** Why a relayer receives no gas money now. */
export type TopUpRefusal = 'pending' | 'limit' | 'quarantined' | 'paused'

export const ABANDONED = 'abandoned by an operator'

/** The beginning of the reason of a pause after a reversal of finality: only its repair ends it. */
export const REVERSAL_PAUSE = 'finalized block '

/** The beginning of the reason of a pause for missing USDC (`chain_cursor.pause`): it lasts until the USDC is found. */
export const MISSING_PAUSE = 'the treasuries have '

export type ChainCursor = {
  readonly number: number
  readonly hash: Hex
  /** No block up to this one was ever read. */
  readonly firstNumber: number
  /** The block to which the logs of the treasuries were read: later than their balances. */
  readonly logsNumber: number
  /** The block to which transfers to addresses of payments were read. */
  readonly depositsNumber: number
  readonly pausedReason: string | null
}

export type OpenPayout =
  /** Its payout has not ended. */
  { readonly kind: 'open' } | Forgotten

/** A payment without a payout that might have been paid or might still be. */
export type Forgotten =
  /** The merchant was paid by this final transaction. */
  | { readonly kind: 'paid'; readonly txHash: string }
  /** The database was restored after the payment was made. Only a void shows whether its payout is on its way. */
  | { readonly kind: 'unsure' }

/**
 * A finalized fact about the treasury. `gasShare` is wei per authorization of a transaction of the platform's lanes.
 */
export type TreasuryLog = {
  readonly kind: 'out' | 'in' | 'cancel'
  readonly treasury: Hex
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly authNonce: Hex | null
  readonly counterparty: Hex | null
  readonly microUsdc: MicroUsdc | null
  readonly gasShare: bigint | null
}

/** How much can leave a treasury without a known payout before everything pauses. */
export type TransferLimits = {
  /** The most micro-USDC of one transfer. */
  readonly maxMicroPerPayout: bigint
  /** The most micro-USDC of all transfers within a day. */
  readonly maxMicroPerDay: bigint
  /** Whole percent by which a converter's fill can be above the payment's quote. */
  readonly fillTolerancePercent: number
}

/** Final logs of the treasuries, from receipts of the platform's transactions or from a range of blocks. */
export type FinalLogs = {
  readonly logs: readonly TreasuryLog[]
  readonly ownTransactions: readonly Hex[]
  readonly treasuries: readonly Hex[]
  readonly limits: TransferLimits
  readonly blockTimes: BlockTimes
}

/** The time of each block that has one of the logs, by its hash: a log that is read late happened then, too. */
export type BlockTimes = ReadonlyMap<string, Date>

export const describeTransfer = (log: TreasuryLog): string =>
  `unknown transfer of ${formatUsdc(log.microUsdc ?? '0')} USDC from ${log.treasury} to ${log.counterparty} in ${log.txHash}`

/**
 * A settled payout with its proof. `gasWei` is this payout's share of the envelope's gas. It is null if another relayer
 * paid it, and if it was booked for the lane before the payout's log was found.
 */
export type Settlement = {
  readonly ownerId: string
  readonly microUsdc: MicroUsdc
  readonly recipient: Hex
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly finalizedAt: Date
  readonly gasWei: bigint | null
  /** The account to which the transfer was booked before its payout claimed it; null: none. */
  readonly claimedFrom: 'suspense' | 'exchange' | null
}

type FinalPlace = {
  readonly ownerId: string
  readonly blockNumber: number
  readonly blockHash: Hex
}

export type VoidProof =
  /** The finalized log of its canceled authorization: a refund requires it. */
  | (FinalPlace & {
      readonly kind: 'canceled'
      readonly txHash: Hex
      readonly logIndex: number
      /** Wei; null if no lane of the platform paid it. */
      readonly gasWei: bigint | null
    })
  /** Unused at a final block that is later than all its signatures (Unix seconds). */
  | (FinalPlace & { readonly kind: 'expired'; readonly validBefore: number; readonly blockTime: number })

export type TreasuryMovement = {
  readonly chainId: number
  readonly direction: 'in' | 'out'
  /**
   * `acknowledged`: it is known already, and an operator has declared it legitimate. `gone`: it never happened, because
   * its block has left the chain.
   */
  readonly fate: 'final' | 'acknowledged' | 'gone'
  readonly micro: MicroUsdc
  readonly treasury: Hex
  readonly counterparty: Hex
  readonly txHash: Hex
  /** The first index that it had, whatever block it is in now. */
  readonly logIndex: number
  readonly blockNumber: number
}

/** Micro-USDC, signed: what the treasuries had at a final block beyond the books. */
export type BalanceDifference = {
  readonly chainId: number
  readonly blockNumber: number
  readonly micro: bigint
  /** The transfer that was read later and explains it (`hash:index`): it is booked back. */
  readonly explainedBy?: string
}

/** Thrown if another engine owns the lease now: nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}
