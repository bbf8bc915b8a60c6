import type { Sweep } from '../../domain/settlement/deposit.ts'
import type { SignedPayout, TopUpRefusal } from '../../domain/settlement/payout.ts'
import type { Stuck } from './rescue.ts'
import { type Sender, sendBatch, sendFunding, sendSweeps, sendTopUp, type TopUp, TRANSFER_GAS } from './sender.ts'

export type LaneRound = {
  /** Envelopes that other lanes should carry too: the lane is stopped, or its lowest envelope does not get through. */
  readonly stuck: readonly Stuck[]
  /** True if an envelope in flight could not be sent again. */
  readonly isRefused: boolean
  /** Returns the number of envelopes that the lane may still send now. */
  free(): number
  /** Returns the wei of the wallet that no envelope in flight can cost. */
  spare(): bigint
  send(payouts: readonly SignedPayout[]): Promise<number>
  sweep(sweeps: readonly Sweep[]): Promise<number>
  fund(funding: Sweep): Promise<number>
  /** Returns why nothing was sent; null if it was sent. */
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
    fund(funding) {
      free -= 1
      return sendFunding(sender, funding)
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
