import { listAttention } from '../../db/payments/attention.ts'
import type { Office } from '../call.ts'

/** More than this nobody reads on a screen; what has waited longest is shown. */
const MOST = 200

/** What waits for a person, the oldest first. Exit code 1 when something does. */
export async function showAttention({ db, say, give }: Office): Promise<number> {
  const waiting = await listAttention(db, MOST)
  give('attention', waiting)
  if (waiting.length === 0) say('nothing waits for a person')
  for (const { kind, detail, paymentId, attemptId, since } of waiting)
    say([since, kind, detail, paymentId, attemptId].filter((word) => word !== null).join('  '))
  if (waiting.length === MOST) say(`… the ${MOST} that have waited longest`)
  return waiting.length === 0 ? 0 : 1
}
