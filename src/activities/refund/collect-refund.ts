import type { Tx } from '../../db/db.ts'
import { readDeducted } from '../../db/refunds/deductions.ts'
import { loadRefund } from '../../db/refunds/refunds.ts'
import { createNote } from '../../domain/timeline.ts'
import { type ChangedRefund, changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import type { RefundDeps } from './refund-deps.ts'

/** Reads the refund. One that is paid for by the next payouts counts those that have become final. */
export async function collectRefund({ db, context }: RefundDeps, id: string): Promise<ChangedRefund> {
  const refund = await loadRefund(db, id)
  if (!isDeducting(refund) || (await readDeducted(db, id)) === refund.receivedMicro) return { refund, events: [] }
  return changeRefund(db, context, { id, change: collectDeductions })
}

/** Call it before a refund is ended for a lack of USDC: a payout might have become final. */
export async function collectDeductions({ refund, setRefund, payment }: RefundDraft, tx: Tx): Promise<void> {
  if (!isDeducting(refund)) return
  const receivedMicro = await readDeducted(tx, refund.id)
  if (receivedMicro === refund.receivedMicro) return
  payment.addNote(createNote('refund.deducted', { refund: refund.id, received_micro: receivedMicro }))
  const isFunded = BigInt(receivedMicro) >= BigInt(refund.requiredMicro)
  setRefund({ receivedMicro, ...(isFunded && { status: 'funded' }) })
}

const isDeducting = ({ fundFrom, status }: RefundDraft['refund']): boolean =>
  fundFrom === 'next_payouts' && status === 'awaiting_funds'
