import type { DepositLog } from '../../domain/settlement/deposit.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import { depositLogs } from '../deposits/deposit-logs.ts'
import type { Block } from '../rpc/node.ts'
import { readFacts, shareGas, treasuryLogs } from './facts.ts'

/** Blocks in one `eth_getLogs`: within every node's limit. */
const LOG_RANGE = 1000
/** Most ranges read in one round, so that catching up does not starve the lanes. */
const RANGES_PER_ROUND = 10

/**
 * Every block is read a second time when so many final ones have followed: about half a minute on Polygon. A node that
 * has the block but not its logs yet answers an empty list, and so may two of three.
 */
const READ_AGAIN_AFTER = 16
/** So many together: one question for each block would be half of all that is asked while nothing happens. */
const READ_AGAIN_TOGETHER = 8
/** How far back a new start reads a second time, because it does not know what was read when. */
const READ_AGAIN_AT_START = 64

/**
 * Reads the finalized blocks after the cursor into the journal, as far as a quorum of nodes agrees on them. Payouts are
 * settled and voided by what is stored here. Returns the new cursor. In memory it keeps only what was read twice.
 */
export function createScan(deps: SettlementDeps) {
  let readTwice: number | null = null

  /** A failure changes nothing: the next round reads the same blocks. */
  async function readAgain(lease: Lease, cursor: ChainCursor): Promise<void> {
    const from = Math.max(readTwice ?? cursor.number - READ_AGAIN_AT_START, cursor.firstNumber) + 1
    const last = Math.min(cursor.number - READ_AGAIN_AFTER, from + LOG_RANGE - 1)
    if (last - from + 1 < READ_AGAIN_TOGETHER) return
    const block = await deps.rpc.agreed((node) => node.block(last))
    if (block === null) return
    const read = await readRange(deps, lease, { from, final: block.value, again: true })
    if (read !== null) readTwice = last
  }

  return async function scanFinalized(lease: Lease, start: ChainCursor): Promise<ChainCursor> {
    const { rpc, journal, log } = deps
    const final = await rpc.finalized()
    if (final === null || final.number <= start.number) return start
    const known = await rpc.agreed((node) => node.block(start.number))
    if (known === null) return start
    if (known.value.hash !== start.hash) {
      const reason = `finalized block ${start.number} was ${start.hash} and is ${known.value.hash} now`
      log.error({}, `${reason}; all lanes pause`)
      await journal.pause({ reason, untilFinal: null })
      return start
    }
    let cursor = start
    for (let range = 0; range < RANGES_PER_ROUND && cursor.number < final.number; range++) {
      const next = await readRange(deps, lease, { from: cursor.number + 1, final })
      if (next === null) break
      cursor = { ...cursor, ...next }
    }
    await readAgain(lease, cursor)
    return cursor
  }
}

/** Reads one range of blocks. Null when the nodes do not agree on it now. */
async function readRange(
  deps: SettlementDeps,
  lease: Lease,
  range: { from: number; final: Block; again?: boolean },
): Promise<Pick<ChainCursor, 'number' | 'hash'> | null> {
  const { rpc, journal, token, log } = deps
  const { from, final, again = false } = range
  const to = Math.min(final.number, from + LOG_RANGE - 1)
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const last = to === final.number ? { value: final } : await rpc.agreed((node) => node.block(to))
  const logs = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock: from, toBlock: to }))
  const deposits = await readDeposits(deps, { fromBlock: from, toBlock: to })
  if (last === null || logs === null || deposits === null) return null
  const wallets = new Set(deps.relayers.map((relayer) => relayer.address.toLowerCase()))
  const facts = await shareGas(rpc, wallets, readFacts(logs.value, scope.treasuries))
  const { hash } = last.value
  const scan = { ...facts, deposits, treasuries: scope.treasuries, at: deps.clock(), number: to, hash, again }
  const [unknown, ...more] = await journal.recordFinalized(lease, scan)
  if (unknown !== undefined)
    log.error({ transfer: unknown, others: more.length }, 'an unknown transfer left the treasury; all lanes pause')
  return { number: to, hash }
}

/**
 * Transfers to the addresses of payments on which the quorum agrees. The addresses are read after the range was final,
 * so that every address that a buyer could have paid in it is among them.
 */
async function readDeposits(
  { deposits, journal, rpc, token }: SettlementDeps,
  range: { fromBlock: number; toBlock: number },
): Promise<DepositLog[] | null> {
  if (deposits === null) return []
  const addresses = await journal.readWatchedDeposits()
  if (addresses.length === 0) return []
  const watched = { addresses, tokens: [token.address, ...deposits.wrongTokens] }
  const agreed = await rpc.agreed((node) => depositLogs(node, watched, range))
  return agreed?.value ?? null
}
