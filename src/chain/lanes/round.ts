import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { SignedPayout, TopUpRefusal } from '../../domain/settlement/payout.ts'
import { type Sender, sendBatch, sendSweeps, sendTopUp, type TopUp, TRANSFER_GAS } from './sender.ts'
import type { Stuck } from './stranded.ts'

/** One wallet in one round. */
export type LaneRound = {
  /** Its envelopes that other lanes should carry too: the lane is stopped, or the lowest of them does not get through. */
  readonly stuck: readonly Stuck[]
  /** True if its key signed nothing again of what the lane has on the way. */
  readonly isRefused: boolean
  /** How many more envelopes the lane may send now. */
  free(): number
  /** Wei of the wallet that nothing in flight may still cost. */
  spare(): bigint
  /** Returns how many payouts were sent. */
  send(payouts: readonly SignedPayout[]): Promise<number>
  sweep(sweeps: readonly Sweep[]): Promise<number>
  /** Returns why nothing was sent; null when it was. */
  topUp(topUp: TopUp): Promise<TopUpRefusal | null>
}

type Means = {
  readonly slots?: number
  readonly spare?: bigint
  readonly stuck?: readonly { readonly nonce: number }[]
  readonly isRefused?: boolean
}

export function createRound(
  sender: Sender,
  { slots = 0, spare = 0n, stuck = [], isRefused = false }: Means,
): LaneRound {
  const { wallet } = sender.lane
  let free = slots
  let left = spare
  return {
    stuck: stuck.map(({ nonce }) => ({ wallet, nonce })),
    isRefused,
    free: () => free,
    spare: () => left,
    send(payouts) {
      free -= 1
      return sendBatch(sender, payouts)
    },
    sweep(sweeps) {
      free -= 1
      return sendSweeps(sender, sweeps)
    },
    async topUp(topUp) {
      const refused = await sendTopUp(sender, topUp)
      if (refused !== null) return refused
      free -= 1
      left -= topUp.wei + TRANSFER_GAS * sender.deps.options.maxFeeWei
      return null
    },
  }
}
