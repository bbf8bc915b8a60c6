import type { Db } from '../db/db.ts'
import { MOST_PAYMENTS, reconcile } from '../db/invariants/reconcile.ts'
import { storeRun, takeRun } from '../db/invariants/violations.ts'
import type { Logger } from '../runtime/log.ts'

const HOUR_MS = 3_600_000
/** A change is committed after its time, and clocks differ: this much of the time before is compared again. */
const OVERLAP_MS = 10 * 60_000
/** After a longer rest of the workers, older changes are compared on demand (`pinrail reconcile`). */
const LONGEST_MS = 7 * 24 * HOUR_MS

/** Maximum number of differences that are logged. All are stored, and `pinrail reconcile` lists them. */
const MAX_LOGGED = 20

/** Reconciles hourly, in one of the workers. Returns the number of differences; null if another worker has done it. */
export function createReconciliation({ db, log, now }: { db: Db; log: Logger; now: () => number }) {
  return async function tick(): Promise<number | null> {
    const doneAt = await takeRun(db, HOUR_MS)
    if (doneAt === null) return null
    const since = Math.max(Date.parse(doneAt) - OVERLAP_MS, now() - LONGEST_MS)
    const run = await reconcile(db, { since: new Date(since).toISOString() })
    await storeRun(db, run)
    for (const { invariant, subject, difference } of run.differences.slice(0, MAX_LOGGED))
      log.error({ invariant, subject, difference }, 'the books do not agree: see docs/operations.md')
    for (const { invariant, why } of run.unread) log.error({ invariant, why }, 'an invariant could not be compared')
    if (run.isCut) log.warn({ payments: MOST_PAYMENTS }, 'more payments have changed than are compared in a run')
    return run.differences.length
  }
}
