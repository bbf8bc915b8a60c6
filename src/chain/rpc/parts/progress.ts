import type { Hex } from '../../../domain/hex.ts'
import type { Log } from '../answers.ts'
import { createRoom, logGas } from './room.ts'

/** Of the receipts of one block, the logs that are kept while it is read. */
export type Progress = {
  has(txHash: Hex): boolean
  logsOf(txHash: Hex): readonly Log[]
  /** Answers false when there are more than a block can have. */
  add(txHash: Hex, logs: readonly Log[]): boolean
  /** In gas, as Room counts it. */
  size(): number
}

/** A receipt without logs is some 200 bytes here, as much as 500 gas of logs. */
const RECEIPT_GAS = 500

export function createProgress(): Progress {
  const told = new Map<Hex, readonly Log[]>()
  const room = createRoom()
  return {
    has: (txHash) => told.has(txHash),
    logsOf: (txHash) => told.get(txHash) ?? [],
    add(txHash, logs) {
      if (told.has(txHash)) return true
      if (!room.takes(RECEIPT_GAS) || !logs.every((log) => room.takes(logGas(log)))) return false
      told.set(txHash, logs)
      return true
    },
    size: () => room.taken(),
  }
}

/** What readings of one node had when they ended too early: the next one of the same goes on from there. */
export type Unfinished = {
  /** That which is kept under the key, and it is not kept any more; an empty one otherwise. */
  take(key: string): Progress
  keep(key: string, progress: Progress): void
}

/** Of all that is kept, in gas: three blocks that strangers have filled, some 60 MB. The oldest are forgotten. */
const KEPT_GAS = 150_000_000

export function createUnfinished(): Unfinished {
  const kept = new Map<string, Progress>()
  const size = (): number => [...kept.values()].reduce((sum, progress) => sum + progress.size(), 0)
  return {
    take(key) {
      const progress = kept.get(key) ?? createProgress()
      kept.delete(key)
      return progress
    },
    keep(key, progress) {
      kept.set(key, progress)
      for (const oldest of kept.keys()) {
        if (size() <= KEPT_GAS) return
        kept.delete(oldest)
      }
    },
  }
}
