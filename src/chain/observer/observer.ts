import type { Lease } from '../../domain/settlement/payout.ts'
import { type SettlementDeps, watchedTreasuries } from '../context.ts'
import { proveExpired } from './expired.ts'
import { createHeadWatch } from './head.ts'
import { createReconciliation } from './reconcile.ts'
import { createScan } from './scan.ts'

/** Most payouts that are ended in one database transaction. */
const ENDED_AT_ONCE = 200
/** Most deposits, and most movements of a treasury, that are told in one. */
const APPLIED_AT_ONCE = 500

/**
 * The observer of one engine. In memory it keeps only hashes of blocks that are not final; losing them does no harm.
 */
export function createObserver(deps: SettlementDeps) {
  const { journal, token, log } = deps
  const scanFinalized = createScan(deps)
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const reconcile = createReconciliation(deps, scope)
  const watchHead = createHeadWatch(deps, scope)

  async function applyPending(): Promise<void> {
    const { failed } = await journal.applyPending(APPLIED_AT_ONCE)
    for (const { error, ...place } of failed)
      log.error({ ...place, err: error }, 'a log is stored, but what it means could not be recorded; tried again')
  }

  async function applyProven(): Promise<void> {
    let ended = ENDED_AT_ONCE
    while (ended === ENDED_AT_ONCE) {
      const result = await journal.applyProven(ENDED_AT_ONCE)
      ended = result.ended
      for (const { paymentId, error } of result.failed)
        log.error({ paymentId, err: error }, 'proved on chain, but recording it for the payment failed; tried again')
    }
  }

  return {
    /** The parts do not wait for each other: what one cannot read now, another may. Throws the first failure. */
    async observe(lease: Lease): Promise<void> {
      const start = await journal.readCursor()
      if (start === null) return
      let cursor = start
      const failures: unknown[] = []
      const parts = [
        async () => void (cursor = await scanFinalized(lease, start)),
        applyPending,
        applyProven,
        () => reconcile(lease, cursor),
        () => proveExpired(deps, lease, cursor),
        () => watchHead(lease, cursor),
      ]
      for (const part of parts) await part().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}
