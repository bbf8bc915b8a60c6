import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { createReach } from '../observer/reach.ts'
import { readLastBlock } from '../observer/replaced.ts'
import { createSecondReading } from '../observer/second-reading.ts'
import { depositLogs } from './deposit-logs.ts'

/** Most ranges read in one round. */
const RANGES_PER_ROUND = 10

/**
 * What is more blocks or seconds back, some minutes on Polygon, is caught up on: whose watch has ended since was still
 * watched then.
 */
const CATCHING_UP_BLOCKS = 100
const CATCHING_UP_SECONDS = 600

type Range = { readonly from: number; readonly to: number; readonly again: boolean; readonly isPast: boolean }

/**
 * Reads transfers to the addresses of payments in final blocks, as far as payouts were read and a quorum agrees. It has a
 * cursor of its own: addresses are many, and a question about them that is not answered must hold up no payout. Answers
 * whether anything has come.
 */
export function createDepositScan(deps: SettlementDeps) {
  const { deposits, journal, rpc, token } = deps
  const again = createSecondReading()
  const reach = createReach()

  /** When the blocks were made. Null when the nodes do not agree on it. */
  async function timeOf({ from, to }: Range): Promise<{ from: number; to: number } | null> {
    const [first, last] = await Promise.all([from, to].map((number) => rpc.agreed((node) => node.block(number))))
    if (!first || !last) return null
    return { from: first.value.timestamp, to: last.value.timestamp }
  }

  /**
   * The addresses are read after the range was final, so that every one that a buyer could have paid in it is there.
   * Answers how far it has read, and how many transfers came; null when it could not be read.
   */
  async function read(lease: Lease, range: Range): Promise<{ to: number; come: number } | null> {
    const past = range.isPast ? await timeOf(range) : null
    if (range.isPast && past === null) return null
    const addresses = await journal.readWatchedDeposits(past)
    const watched = { addresses, tokens: [token.address, ...(deposits?.wrongTokens ?? [])] }
    const { from, to } = range
    const agreed =
      addresses.length === 0
        ? { value: [] }
        : await rpc.agreed((node) => depositLogs(node, watched, { fromBlock: from, toBlock: to }))
    if (agreed === null) return null
    await journal.recordDeposits(lease, { logs: agreed.value, at: deps.clock(), number: to, again: range.again })
    return { to, come: agreed.value.length }
  }

  return async function scanDeposits(lease: Lease, cursor: ChainCursor): Promise<boolean> {
    const newest = await readLastBlock(rpc, cursor)
    if (newest === null) return false
    const isOld = deps.clock().getTime() / 1000 - newest.timestamp > CATCHING_UP_SECONDS
    const readFrom = (from: number, open: { to: number; again: boolean }) =>
      reach.read(open.to - from + 1, (blocks) => {
        const isPast = isOld || cursor.number - from >= CATCHING_UP_BLOCKS
        return read(lease, { from, to: from + blocks - 1, again: open.again, isPast })
      })
    let last = cursor.depositsNumber
    let come = 0
    for (let ranges = 0; ranges < RANGES_PER_ROUND && last < cursor.number; ranges++) {
      const found = await readFrom(last + 1, { to: cursor.number, again: false })
      if (found === null) break
      come += found.come
      last = found.to
    }
    const due = again.due({ number: last, firstNumber: cursor.firstNumber })
    const found = due && (await readFrom(due.from, { to: due.to, again: true }))
    if (found !== null) again.done(found.to)
    return come + (found?.come ?? 0) > 0
  }
}
