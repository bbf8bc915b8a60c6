import type { Tx } from '../db/db.ts'
import { queueUnsurePayout, readOpenPayout } from '../db/settlement/observer/forgotten-payouts.ts'
import { readPayout, requestVoid } from '../db/settlement/payouts.ts'

/**
 * Requests a void of the payment's payout. Returns `voiding`, `none` if there was none, or `ended` if it is already
 * paid or voided. A payout that a restored backup might lack is queued and voided: the cancellation uses the same
 * nonce, so the chain decides.
 */
export async function voidPayout(tx: Tx, paymentId: string): Promise<'voiding' | 'none' | 'ended'> {
  if (await requestVoid(tx, paymentId)) return 'voiding'
  if ((await readPayout(tx, paymentId)) !== null) return 'ended'
  if ((await readOpenPayout(tx, paymentId))?.kind !== 'unsure') return 'none'
  await queueUnsurePayout(tx, paymentId)
  await requestVoid(tx, paymentId)
  return 'voiding'
}
