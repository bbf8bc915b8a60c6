import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { type Blocks, createReach } from '../observer/reach.ts'
import { readLastBlock } from '../observer/replaced.ts'
import { createSecondReading } from '../observer/second-reading.ts'
import { createStall } from '../observer/stall.ts'
import { depositLogs } from './deposit-logs.ts'

/**
 * What is more blocks or seconds back, some minutes on Polygon, is caught up on: whose watch has ended since was still
 * watched then. So is what follows on a reading so many seconds ago: the chain may have stood still meanwhile.
 */
const CATCHING_UP_BLOCKS = 100
const CATCHING_UP_SECONDS = 600

/** `isLate`: watches that have ended since the blocks were made count too. */
type Range = { readonly blocks: Blocks; readonly again: boolean; readonly isLate: boolean }

/**
 * Reads transfers to the addresses of payments in final blocks, as far as payouts were read and a quorum agrees. It has a
 * cursor of its own: addresses are many, and a question about them that is not answered must hold up no payout. Answers
 * whether anything has come.
 */
export function createDepositScan(deps: SettlementDeps) {
  const { deposits, journal, rpc, token } = deps
  const reach = createReach()
  const secondReach = createReach()
  const secondReading = createSecondReading()
  const stall = createStall(deps, 'the reading of deposits')
  // Unix seconds. What was read before the start is not known.
  let readAt = Number.NEGATIVE_INFINITY

  /** When the blocks were made, in Unix seconds. Null when the nodes do not agree on it. */
  async function timeOf({ from, to }: Blocks): Promise<{ from: number; to: number } | null> {
    const [first, last] = await Promise.all([from, to].map((number) => rpc.agreed((node) => node.block(number))))
    if (!first || !last) return null
    return { from: first.value.timestamp, to: last.value.timestamp }
  }

  /**
   * The addresses are read after the range was final, so that every one that a buyer could have paid in it is there.
   * Answers how far it has read, and how many transfers came; null when it could not be read.
   */
  async function read(lease: Lease, { blocks, again, isLate }: Range): Promise<{ to: number; come: number } | null> {
    const past = isLate ? await timeOf(blocks) : null
    if (isLate && past === null) return null
    const addresses = await journal.readWatchedDeposits(past)
    const watched = { addresses, tokens: [token.address, ...(deposits?.wrongTokens ?? [])] }
    const { from, to } = blocks
    const logs = await rpc.agreed((node) => depositLogs(node, watched, { fromBlock: from, toBlock: to }))
    if (logs === null) return null
    await journal.recordDeposits(lease, { logs: logs.value, at: deps.clock(), number: to, again })
    return { to, come: logs.value.length }
  }

  return async function scanDeposits(lease: Lease, cursor: ChainCursor): Promise<boolean> {
    const newest = await readLastBlock(rpc, cursor)
    if (newest === null) {
      stall.goesOn(`no quorum has block ${cursor.number} as it was read`)
      return false
    }
    const now = deps.clock().getTime() / 1000
    const isOld = now - Math.min(newest.timestamp, readAt) > CATCHING_UP_SECONDS
    const reading = (again: boolean) => (blocks: Blocks) =>
      read(lease, { blocks, again, isLate: isOld || cursor.number - blocks.from >= CATCHING_UP_BLOCKS })
    const news = await reach.readOn({ from: cursor.depositsNumber + 1, to: cursor.number }, reading(false))
    if (news.at(-1)?.to === cursor.number) readAt = now
    if (news.length > 0) stall.ends()
    else stall.goesOn(`no quorum shows the logs of block ${cursor.depositsNumber + 1} and those after it`)
    const last = news.at(-1)?.to ?? cursor.depositsNumber
    const due = secondReading.due({ number: last, firstNumber: cursor.firstNumber })
    const more = due === null ? [] : await secondReach.readOn(due, reading(true))
    for (const { to } of more) secondReading.done(to)
    return [...news, ...more].some(({ come }) => come > 0)
  }
}
