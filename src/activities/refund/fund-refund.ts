import { storeFunding } from '../../db/refunds/refunds.ts'
import type { Hex } from '../../domain/hex.ts'
import { validBefore } from '../../domain/refund/refund-object.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { createNote } from '../../domain/timeline.ts'
import { changeRefund } from '../../payments/change-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** Takes the transfer that the merchant's wallet has signed. The token itself checks it, and accepts it once. */
export async function fundRefund(
  { db, context }: RefundDeps,
  { id, signature }: { readonly id: string; readonly signature: Hex },
): Promise<RefundAnswer> {
  const funded = await changeRefund(db, context, {
    id,
    change: async ({ refund, setRefund, payment }, tx) => {
      const { status, place, expiresAt } = refund
      if (status !== 'awaiting_funds' || place === null) return
      const funding = { nonce: place.nonce, signature, validBefore: validBefore(expiresAt) }
      if (!(await storeFunding(tx, refund, funding))) return
      setRefund({ signedAt: payment.at, fundingRefusal: null })
      payment.addNote(createNote('refund.signed', { refund: id }))
    },
  })
  return createRefundAnswer(funded)
}
