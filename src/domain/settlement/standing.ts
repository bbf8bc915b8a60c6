import type { Hex } from '../hex.ts'
import type { MicroUsdc } from '../money.ts'
import type { FloatStanding } from './float.ts'
import type { PartStanding } from './part.ts'
import type { LaneStatus } from './payout.ts'

/** The state of settlement at the time of a question. Ages are in seconds. */
export type Standing = {
  /** Payouts that have not ended, by state and reason. */
  readonly queue: readonly {
    readonly state: string
    readonly reason: string | null
    readonly count: number
    readonly micro: MicroUsdc
    readonly oldestSeconds: number
  }[]
  /** Micro-USDC of the payouts that need the USDC of their treasury, except treasuries whose keys are missing. */
  readonly wanting: readonly { readonly treasury: Hex; readonly state: Wanting; readonly micro: MicroUsdc }[]
  /** Treasuries whose open payouts go to another one, and how long the oldest of them has waited for that. */
  readonly takeOvers: readonly {
    readonly from: Hex
    readonly to: Hex
    readonly count: number
    readonly sinceSeconds: number
  }[]
  /** The payouts settled in the last ten minutes, and the age of the last one ever. */
  readonly settled: { readonly count: number; readonly secondsAgo: number | null }
  /** Null: the chain was never read. */
  readonly cursor: {
    readonly number: number
    readonly hash: Hex
    readonly ageSeconds: number
    /** Seconds since the treasuries were compared with the books at a final block. */
    readonly comparedSeconds: number
    /** Blocks before it to which transfers to deposit addresses were read: they have a separate cursor. */
    readonly depositsBehind: number
    /** True if an engine has owned the lease or reported within the last minute. */
    readonly isObserved: boolean
    readonly pausedReason: string | null
  } | null
  readonly lanes: readonly {
    readonly wallet: Hex
    readonly status: LaneStatus
    readonly reason: string | null
    readonly nextNonce: number
    /** Transactions that are not final. */
    readonly open: number
    /** How long the oldest of them has been in no block; null: none is. */
    readonly unminedSeconds: number | null
    /** True if it sends gas money to the other lanes, and no payouts. */
    readonly isFunding: boolean
  }[]
  readonly parts: readonly PartStanding[]
  /** Null: the converter has the USDC. */
  readonly float: FloatStanding | null
  readonly attention: readonly { readonly kind: string; readonly subject: string; readonly detail: string | null }[]
  readonly chain: {
    readonly nodes: readonly {
      readonly name: string
      /** Null: it does not answer. */
      readonly head: number | null
      readonly final: number | null
      /** The error that it returned instead of an answer. */
      readonly why: string | null
    }[]
    readonly quorum: number
    /** The final block on which a quorum agrees; null: there is none now. */
    readonly final: number | null
    /** Micro-USDC by treasury, and wei by lane. Null: no node returns it now. */
    readonly treasuries: readonly { readonly wallet: Hex; readonly micro: bigint | null }[]
    readonly gas: readonly { readonly wallet: Hex; readonly wei: bigint | null }[]
  }
}

/** `stopped`: stopped for funds. */
export type Wanting = 'stopped' | 'queued' | 'authorized'

/** A cause that keeps money from moving, or will. `stops`: no money moves while it lasts. */
export type Trouble = {
  readonly kind:
    | 'paused'
    | 'unread'
    | 'no_worker'
    | 'cursor_stuck'
    | 'not_final'
    | 'deposits_behind'
    | 'no_quorum'
    | 'node'
    | 'no_lane'
    | 'lane_quarantined'
    | 'no_gas'
    | 'treasury_low'
    | 'daily_limit'
    | 'token_paused'
    | 'treasury_blacklisted'
    | 'treasury_delegated'
    | 'gas_above_cap'
    | 'part_fails'
    | 'not_mined'
    | 'payout_stopped'
    | 'rate'
    | 'release'
    | 'hook'
    | 'sweep'
    | 'void'
    | 'no_key'
    | 'unserved'
    | 'take_over'
    | 'unclaimed'
    | 'uncompared'
    | 'receipt'
    | 'float_low'
    | 'refill'
    | 'unexplained'
  readonly stops: boolean
  readonly what: string
  readonly todo: string
}
