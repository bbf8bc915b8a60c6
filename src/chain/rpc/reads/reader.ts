import type { Hex } from '../../../domain/hex.ts'
import { createLimiter } from '../../../runtime/limiter.ts'
import { parseRawReceipt, type RawReceipt } from '../../receipts/encoding.ts'
import type { Log, Transaction } from '../answers.ts'
import { isTooLarge } from '../failure.ts'
import type { NodeTransport } from '../transport.ts'
import { readReceipts, readTransactions } from './block.ts'
import type { LogFilter } from './filter.ts'
import { readLogs } from './logs.ts'
import { createRoom, logGas } from './room.ts'
import { inTurn, type Source } from './source.ts'

/** Reads of one node that are made in parts if the whole is too large for one answer. Throws NodeFailure only. */

export type PartReader = {
  logs(filter: LogFilter): Promise<Log[]>
  rawReceipts(block: number): Promise<RawReceipt[]>
  transactions(block: number, from: Hex): Promise<Transaction[]>
}

/**
 * Creates the readers of one node, with the state that they share. A reader sends no call after its signal is aborted.
 */
export function createPartReaders(
  node: Pick<Source, 'name' | 'now'>,
): (transport: NodeTransport, signal: AbortSignal | undefined) => PartReader {
  const shared = { ...node, turns: createLimiter({ running: 1 }) }
  return (transport, signal) => {
    const source: Source = { ...shared, transport, signal }
    return {
      logs: (filter) => readLogs(source, filter),
      rawReceipts: (number) => inTurn(source, () => readRawReceipts(source, number)),
      transactions: (number, from) => readTransactions(source, number, from),
    }
  }
}

function readRawReceipts(source: Source, number: number): Promise<RawReceipt[]> {
  const room = createRoom()
  const parse = (answer: unknown): RawReceipt => {
    const receipt = parseRawReceipt(answer)
    if (!receipt.logs.every((log) => room.takes(logGas(log)))) throw new RangeError('more logs than a block can have')
    return receipt
  }
  // Pruned nodes refuse these too, and other nodes have them: only a size leads to reading in parts.
  return readReceipts(source, number, { parse, isSplit: isTooLarge })
}
