import { listDown } from '../../db/partners/standing.ts'
import { listAttention } from '../../db/payments/attention.ts'
import type { DownReason } from '../../domain/partner/standing.ts'
import type { Office } from '../call.ts'

/** More than this nobody reads on a screen; what has waited longest is shown. */
const MOST = 200

const WHY_DOWN: Readonly<Record<DownReason, string>> = {
  silent: 'it does not answer. It is not offered until it does; ask it whether it has a disturbance',
  refuses_us: 'it refuses our account or signature. Compare account and secret with what it has',
  opens_nothing: 'it answers questions and opens no order. Ask it why; orders are tried again by themselves',
}

/** What waits for a person, the oldest first. Exit code 1 when something does. */
export async function showAttention({ db, say, give }: Office): Promise<number> {
  const [waiting, down] = await Promise.all([listAttention(db, MOST), listDown(db)])
  give('attention', waiting)
  give('partners_down', down)
  if (waiting.length + down.length === 0) say('nothing waits for a person')
  for (const { partner, why, since } of down) say(`${since}  partner_down  ${partner}: ${WHY_DOWN[why]}`)
  for (const { kind, detail, paymentId, attemptId, since } of waiting)
    say([since, kind, detail, paymentId, attemptId].filter((word) => word !== null).join('  '))
  if (waiting.length === MOST) say(`… the ${MOST} that have waited longest`)
  return waiting.length + down.length === 0 ? 0 : 1
}
