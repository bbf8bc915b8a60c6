import type { BlockTimes } from '../../domain/settlement/payout.ts'
import type { Log } from '../rpc/node.ts'
import type { Rpc } from '../rpc/rpc.ts'

const TOGETHER = 100

/**
 * Reads the times of the logs' blocks, by quorum. Throws if the nodes do not agree now, or a block has been replaced.
 */
export async function readBlockTimes(
  rpc: Pick<Rpc, 'demand'>,
  logs: readonly Pick<Log, 'blockNumber' | 'blockHash'>[],
): Promise<BlockTimes> {
  const hashes = new Map(logs.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const numbers = [...hashes.keys()]
  const times = new Map<string, Date>()
  for (let start = 0; start < numbers.length; start += TOGETHER) {
    const part = numbers.slice(start, start + TOGETHER)
    const blocks = await rpc.demand(`the time of block ${part[0]}`, (node) =>
      Promise.all(part.map((number) => node.block(number))),
    )
    for (const { number, hash, timestamp } of blocks) {
      if (hashes.get(number) !== hash) throw new Error(`block ${number} has been replaced`)
      times.set(hash, new Date(timestamp * 1000))
    }
  }
  return times
}
