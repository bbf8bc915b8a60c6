import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { isReplaced } from '../observer/replaced.ts'
import { createSecondReading, LOG_RANGE } from '../observer/second-reading.ts'
import { depositLogs } from './deposit-logs.ts'

/** Most ranges read in one round. */
const RANGES_PER_ROUND = 10

/** A longer range, some minutes on Polygon, is caught up on: whose watch has ended since was still watched then. */
const CATCHING_UP = 100

type Range = { readonly from: number; readonly to: number }

/**
 * Reads transfers to the addresses of payments in final blocks, as far as payouts were read and a quorum agrees. It has a
 * cursor of its own: addresses are many, and a question about them that is not answered must hold up no payout. Answers
 * whether anything has come.
 */
export function createDepositScan(deps: SettlementDeps) {
  const { deposits, journal, rpc, token } = deps
  const again = createSecondReading()

  /** When the blocks were made; null: just now. Undefined when the nodes do not agree on it. */
  async function timeOf({ from, to }: Range): Promise<{ from: number; to: number } | null | undefined> {
    if (to - from < CATCHING_UP) return null
    const [first, last] = await Promise.all([from, to].map((number) => rpc.agreed((node) => node.block(number))))
    if (!first || !last) return undefined
    return { from: first.value.timestamp, to: last.value.timestamp }
  }

  /**
   * The addresses are read after the range was final, so that every one that a buyer could have paid in it is there.
   * Answers how many transfers it shows; null when it could not be read.
   */
  async function read(lease: Lease, range: Range & { again: boolean }): Promise<number | null> {
    const past = await timeOf(range)
    if (past === undefined) return null
    const addresses = await journal.readWatchedDeposits(past)
    const watched = { addresses, tokens: [token.address, ...(deposits?.wrongTokens ?? [])] }
    const blocks = { fromBlock: range.from, toBlock: range.to }
    const agreed =
      addresses.length === 0 ? { value: [] } : await rpc.agreed((node) => depositLogs(node, watched, blocks))
    if (agreed === null) return null
    await journal.recordDeposits(lease, { logs: agreed.value, at: deps.clock(), number: range.to, again: range.again })
    return agreed.value.length
  }

  return async function scanDeposits(lease: Lease, cursor: ChainCursor): Promise<boolean> {
    if (await isReplaced(rpc, cursor)) return false
    let last = cursor.depositsNumber
    let come = 0
    for (let ranges = 0; ranges < RANGES_PER_ROUND && last < cursor.number; ranges++) {
      const to = Math.min(cursor.number, last + LOG_RANGE)
      const found = await read(lease, { from: last + 1, to, again: false })
      if (found === null) break
      come += found
      last = to
    }
    const due = again.due({ number: last, firstNumber: cursor.firstNumber })
    const found = due && (await read(lease, { ...due, again: true }))
    if (due !== null && found !== null) again.done(due.to)
    return come + (found ?? 0) > 0
  }
}
