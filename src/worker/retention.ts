import { pruneAccounts } from '../db/accounts/retention.ts'
import type { Queryable } from '../db/db.ts'
import { pruneNotifications } from '../db/notifications/retention.ts'
import { PRUNED_AT_ONCE, pruneOld } from '../db/retention.ts'
import { dropBytes, ENVELOPES_AT_ONCE } from '../db/settlement/observer/retention.ts'
import { purgeExpiredSecrets } from '../db/webhooks/webhook-endpoints.ts'
import type { Hex } from '../domain/hex.ts'

export type RetentionDeps = {
  readonly db: Queryable
  /** Unix milliseconds. */
  readonly now: () => number
  readonly scope: { readonly chainId: number; readonly token: Hex }
  /** Days after which the bytes that envelopes were sent with are dropped. */
  readonly bytesDays: number
}

/** Milliseconds in which a diagnosis can say that a receiver still uses an expired secret. */
const EXPIRED_SECRET_MS = 30 * 86_400_000

/** Returned while there is more: the loop continues at once, so that deleting keeps up with whatever was written. */
export const MORE = 1

/**
 * Deletes a batch of everything that is no longer kept. Expired secrets have stopped signing before. A failure does not
 * keep the rest from being deleted; the first one is thrown at the end.
 */
export function createRetention({ db, now, scope, bytesDays }: RetentionDeps): () => Promise<number> {
  return async function prune() {
    const at = new Date(now()).toISOString()
    const batches = [
      async () => {
        await purgeExpiredSecrets(db, new Date(now() - EXPIRED_SECRET_MS).toISOString())
        return false
      },
      async () => Object.values(await pruneOld(db, at)).some((count) => count >= PRUNED_AT_ONCE),
      async () => (await pruneAccounts(db, at)) >= PRUNED_AT_ONCE,
      async () => (await pruneNotifications(db, at)) >= PRUNED_AT_ONCE,
      async () => (await dropBytes(db, scope, { now: at, days: bytesDays })) >= ENVELOPES_AT_ONCE,
    ]
    let isMore = false
    const failures: unknown[] = []
    for (const batch of batches)
      try {
        isMore = (await batch()) || isMore
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
    return isMore ? MORE : 0
  }
}
