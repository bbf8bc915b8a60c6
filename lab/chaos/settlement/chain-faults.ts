import type { Random } from '../../../test/support/random.ts'
import type { Setup } from '../../settlement/setup.ts'

/** On the development chain `finalized` lags by this many blocks, so newer blocks may be replaced. */
export const SLOTS_IN_AN_EPOCH = 3
const DEEPEST_REORGANIZATION = 4

const GWEI = 1_000_000_000n
const NORMAL_BASE_FEE = GWEI
/** Far above what a new transaction offers (twice the base fee and 30 gwei), and below the policy's cap. */
const HIGH_BASE_FEE = 120n * GWEI

export type ChainFaults = {
  readonly counts: { blocks: number; reorganizations: number; drops: number; feeSpikes: number }
  /** Makes one step of the chain: a block, and faults by chance. */
  step(): Promise<void>
  /** From now on there are only blocks. */
  endFaults(): void
}

export function createChainFaults({ chain }: Setup, random: Random): ChainFaults {
  const counts = { blocks: 0, reorganizations: 0, drops: 0, feeSpikes: 0 }
  let expensiveBlocks = 0
  let hasNoFaults = false
  const request = (method: string, params: unknown[]): Promise<unknown> => chain.request({ method, params } as never)
  return {
    counts,
    endFaults() {
      hasNoFaults = true
      expensiveBlocks = 0
    },
    async step() {
      const [spikes, drops, reorganizes] = [0.03, 0.05, 0.07].map((chance) => random.chance(chance) && !hasNoFaults)
      const [depth, length] = [1 + random.below(DEEPEST_REORGANIZATION), 5 + random.below(6)]
      if (spikes) {
        expensiveBlocks = length
        counts.feeSpikes += 1
      }
      if (drops) {
        await request('anvil_dropAllTransactions', [])
        counts.drops += 1
      }
      if (reorganizes) {
        // The transactions of the replaced blocks are in no pool either.
        await request('anvil_reorg', [depth, []])
        counts.reorganizations += 1
      }
      await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: expensiveBlocks > 0 ? HIGH_BASE_FEE : NORMAL_BASE_FEE })
      expensiveBlocks = Math.max(0, expensiveBlocks - 1)
      await chain.mine({ blocks: 1 })
      counts.blocks += 1
    },
  }
}
