import type { Lease } from '../../domain/settlement/payout.ts'
import { isRecent, RETAINED_STATES, type SettlementDeps } from '../context.ts'
import type { Place } from './endings.ts'
import type { NonceWatch } from './nonces.ts'

const EVERY_MS = 60_000

/**
 * Compares rows and chain every minute: a nonce that the token reports as used, at a final block and by quorum, must
 * have a log here. A cancellation that somebody else has carried changes no balance.
 */
export function createReconciliation(deps: SettlementDeps, nonces: NonceWatch) {
  const { journal, log, clock } = deps
  let comparedAt = Number.NEGATIVE_INFINITY

  /** After a restore: queues payouts that final transfers have paid of payments that hand nothing over any more. */
  async function recallForgotten(): Promise<void> {
    const queued = await journal.queueForgotten()
    if (queued > 0) log.warn({ queued }, 'payments that had ended were paid in a time that the database has forgotten')
  }

  return async function reconcile(lease: Lease, { cursor, head }: Place): Promise<void> {
    const now = clock().getTime()
    if (isRecent(comparedAt, now, EVERY_MS)) return
    await recallForgotten()
    // Nodes that prune no longer have the state of that block.
    if (head.number - cursor.number > RETAINED_STATES) return
    const used = await nonces.findUsed(cursor)
    if (used === null) return
    comparedAt = now
    await nonces.search(lease, cursor, used)
  }
}
