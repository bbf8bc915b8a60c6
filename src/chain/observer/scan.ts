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
 * Reads the finalized blocks after the cursor into the journal, as far as a quorum of nodes agrees on them. Payouts are
 * settled and voided by what is stored here. Returns the new cursor.
 */
export async function scanFinalized(deps: SettlementDeps, lease: Lease, start: ChainCursor): Promise<ChainCursor> {
  const { rpc, journal, log } = deps
  const final = await rpc.finalized()
  if (final === null || final.number <= start.number) return start
  const known = await rpc.agreed((node) => node.block(start.number))
  if (known === null) return start
  if (known.value.hash !== start.hash) {
    const reason = `finalized block ${start.number} was ${start.hash} and is ${known.value.hash} now`
    log.error({}, `${reason}; all lanes pause`)
    await journal.pause(reason)
    return start
  }
  let cursor = start
  for (let range = 0; range < RANGES_PER_ROUND && cursor.number < final.number; range++) {
    const next = await scanRange(deps, lease, { from: cursor.number + 1, final })
    if (next === null) return cursor
    cursor = next
  }
  return cursor
}

/** Reads one range of blocks. Null when the nodes do not agree on it now. */
async function scanRange(
  deps: SettlementDeps,
  lease: Lease,
  range: { from: number; final: Block },
): Promise<ChainCursor | null> {
  const { rpc, journal, token, log } = deps
  const { from, final } = range
  const to = Math.min(final.number, from + LOG_RANGE - 1)
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const last = await rpc.agreed((node) => node.block(to))
  const logs = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock: from, toBlock: to }))
  const deposits = await readDeposits(deps, { fromBlock: from, toBlock: to })
  if (last === null || logs === null || deposits === null || (to === final.number && last.value.hash !== final.hash))
    return null
  const wallets = new Set(deps.relayers.map((relayer) => relayer.address.toLowerCase()))
  const facts = await shareGas(rpc, wallets, readFacts(logs.value, scope.treasuries))
  const at = { at: deps.clock(), number: to, hash: last.value.hash }
  const [unknown, ...more] = await journal.recordFinalized(lease, {
    ...facts,
    ...at,
    deposits,
    treasuries: scope.treasuries,
  })
  if (unknown !== undefined) {
    log.error({ transfer: unknown, others: more.length }, 'an unknown transfer left the treasury; all lanes pause')
  }
  return { number: to, hash: last.value.hash, pausedReason: null }
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
