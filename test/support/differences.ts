import type { Db } from '../../src/db/db.ts'
import { reconcile } from '../../src/db/invariants/reconcile.ts'

/** All violations in the database: invariant, payment and difference. */
export async function findDifferences(db: Db): Promise<string[]> {
  const { differences, unread } = await reconcile(db, 'all')
  return [
    ...differences.map(({ invariant, subject, difference }) => `${invariant} ${subject}: ${difference}`),
    ...unread.map(({ invariant, why }) => `${invariant} cannot be asked: ${why}`),
  ]
}
