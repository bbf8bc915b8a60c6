import { type ChainCursor, type Lease, REVERSAL_PAUSE } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { createStall } from './stall.ts'

/** The last final block that was read, and its time in Unix seconds. */
export type Final = { readonly cursor: ChainCursor; readonly timestamp: number }

/** Moves the cursor to the newest final block. Memory contains only the last outcome. */
export function createFinalReader({ rpc, journal, log, clock }: SettlementDeps) {
  const stall = createStall({ log, clock }, 'the reading of final blocks')
  let isAnswered = true

  /** Returns the cursor, or why nothing is read. */
  async function read(lease: Lease, start: ChainCursor): Promise<Final | string> {
    const final = await rpc.finalized()
    if (final === null) return 'no quorum says what is final'
    if (final.number < start.number) return `a quorum calls only block ${final.number} final`
    const { number, hash, timestamp } = final
    if (number === start.number && hash === start.hash) return { cursor: start, timestamp }
    const known = await rpc.agreed((node) => node.block(start.number))
    if (known === null) return `no quorum says what block ${start.number} is`
    if (known.value.hash !== start.hash) {
      const reason = `${REVERSAL_PAUSE}${start.number} was ${start.hash} and is ${known.value.hash} now`
      log.error({}, `${reason}; all lanes pause`)
      await journal.pause(reason)
      return reason
    }
    await journal.moveCursor(lease, final)
    return { cursor: { ...start, number, hash }, timestamp }
  }

  return {
    /** Returns true if a quorum of nodes that is not behind answered the last time. */
    isAnswered: () => isAnswered,

    /** Returns the new cursor; null if no quorum shows a final block that follows what was read. */
    async readFinal(lease: Lease, start: ChainCursor): Promise<Final | null> {
      isAnswered = false
      const final = await read(lease, start)
      isAnswered = typeof final !== 'string'
      if (typeof final !== 'string') stall.ends()
      else stall.persists(final)
      return typeof final === 'string' ? null : final
    },
  }
}
