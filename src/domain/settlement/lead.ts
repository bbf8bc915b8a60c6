import type { ChainCursor, Envelope, Lane, Lease } from './payout.ts'

/** A lane with its open envelopes, lowest nonce first. */
export type LaneBooks = { readonly lane: Lane; readonly envelopes: readonly Envelope[] }

export type Work = {
  /** Payouts or cancellations wait for a signature of a treasury whose key this engine has. */
  readonly sign: boolean
  /** A signed payout or cancellation waits for a lane. */
  readonly send: boolean
  /** USDC at deposit addresses waits for a sweep, or a merchant has signed a transfer to one. */
  readonly sweep: boolean
  /** Payouts are on their way, or seen in a block that is not final. */
  readonly sent: boolean
  /** Voids, and payouts of lost treasuries, that do not rest. */
  readonly voiding: boolean
  /** Logs whose meaning is not recorded, or gas that is not booked. */
  readonly pending: boolean
  /** Logs of payouts that have not ended. */
  readonly proven: boolean
  /** A repair of finality waits for transfers to be mined again. */
  readonly again: boolean
}

export type Lead = {
  readonly lease: Lease
  readonly cursor: ChainCursor
  /** The lanes whose keys this engine has, and every other lane with open envelopes. */
  readonly lanes: readonly LaneBooks[]
  readonly work: Work
}
