import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { isRecent, KEPT_STATES, type SettlementDeps } from '../context.ts'
import { readToken } from '../token/token-state.ts'
import { readFacts, type Scope, shareGas } from './facts.ts'
import { createSearch, readProved } from './missing.ts'
import { isReplaced } from './replaced.ts'

const EVERY_MS = 60_000
/** Most nonces compared at a time; the next ones follow a minute later. Five calls to each node of the quorum. */
const COMPARED = 2000

type OpenNonce = { readonly paymentId: string; readonly treasury: Hex; readonly authNonce: Hex }

/**
 * Every minute compares rows and chain: a nonce that the token calls used, at a final block and by quorum, must have a
 * log here. If it has none, the log was missed when its block was read: it is looked for at every node, proved by its
 * receipt, and stored. What is not found is a finding for people.
 */
export function createReconciliation(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, token, log, clock } = deps
  let comparedAt = Number.NEGATIVE_INFINITY
  let after = ''
  const findTransactions = createSearch({ rpc, scope })

  /** Null when the nodes do not agree, or when the block is another one now. */
  async function findUsed(open: readonly OpenNonce[], cursor: ChainCursor): Promise<OpenNonce[] | null> {
    if (await isReplaced(rpc, cursor)) return null
    const at = cursor.number
    const reads = open.map(({ treasury, authNonce }) => ({
      view: 'authorizationState' as const,
      args: [treasury, authNonce],
    }))
    const used = await rpc.agreed((node) => readToken(node, token.address, { reads, at }))
    return used && open.filter((_nonce, index) => used.value[index] === 1n)
  }

  async function repair(lease: Lease, cursor: ChainCursor, used: readonly OpenNonce[]): Promise<Set<Hex>> {
    const found = new Set<Hex>()
    const prove = async (txHash: Hex): Promise<Hex[]> => {
      const logs = await readProved({ rpc, scope }, txHash, cursor.number)
      const facts = readFacts(logs, scope.treasuries)
      if (facts.length === 0) return []
      const { number, hash } = cursor
      const shared = await shareGas(deps, facts)
      const { limits } = deps.options
      const scan = { ...shared, treasuries: scope.treasuries, limits, at: clock(), number, hash, again: true }
      const [unknown] = await journal.recordFinalized(lease, scan)
      if (unknown !== undefined) log.error({ transfer: unknown }, 'an unknown transfer was found; all lanes pause')
      const proved = facts.flatMap(({ authNonce }) => (authNonce === null ? [] : [authNonce]))
      for (const nonce of proved) found.add(nonce)
      return proved
    }
    await findTransactions(cursor, { page: after, nonces: used.map(({ authNonce }) => authNonce), prove })
    return found
  }

  /** A restored backup: what it has forgotten of ended payments is theirs again. */
  async function recallForgotten(): Promise<void> {
    const queued = await journal.queueForgotten()
    if (queued > 0) log.warn({ queued }, 'payments that had ended were paid in a time that the database has forgotten')
  }

  return async function reconcile(lease: Lease, cursor: ChainCursor): Promise<void> {
    const now = clock().getTime()
    if (isRecent(comparedAt, now, EVERY_MS)) return
    await recallForgotten()
    const { block: head } = await rpc.newest(cursor.number)
    // Nodes that prune no longer have the state of that block.
    if (head.number - cursor.number > KEPT_STATES) return
    const open = await journal.readOpenNonces({ after, limit: COMPARED })
    const used = open.length === 0 ? [] : await findUsed(open, cursor)
    if (used === null) return
    // Also of a search that fails: nothing is read beside it.
    comparedAt = now
    const found = used.length === 0 ? new Set<Hex>() : await repair(lease, cursor, used)
    const missing = used.filter(({ authNonce }) => !found.has(authNonce))
    if (found.size > 0) log.warn({ found: found.size }, 'logs that were missed when their blocks were read are found')
    for (const { paymentId } of missing)
      log.error({ paymentId }, 'the token calls its nonce used, and no node shows the transfer or cancellation')
    await journal.storeFindings(missing.map(({ paymentId }) => paymentId))
    after = open.length < COMPARED ? '' : (open.at(-1)?.paymentId ?? '')
  }
}
