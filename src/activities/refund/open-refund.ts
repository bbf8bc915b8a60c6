import { loadRefund, openRefundDeposit } from '../../db/refunds/refunds.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { changeRefund, type RefundDraft } from '../../payments/change-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/**
 * Makes the address for the USDC, once: its key follows from the id of the refund. One that is paid for by the next payouts
 * has none.
 */
export async function openRefund({ db, context, addresses }: RefundDeps, id: string): Promise<RefundAnswer> {
  const { wallet, fundFrom } = await loadRefund(db, id)
  if (fundFrom === 'next_payouts')
    return createRefundAnswer(await changeRefund(db, context, { id, change: beginDeductions }))
  // Money that went to another address of the platform would come back to it again and again.
  const isOwn = (await addresses?.isOwn(wallet)) ?? false
  const opened = await changeRefund(db, context, {
    id,
    change: async ({ refund, setRefund, payment }, tx) => {
      if (refund.status !== 'awaiting_funds' || refund.openedAt !== null) return
      if (addresses === null) return setRefund({ status: 'failed', statusReason: 'no_addresses' })
      if (isOwn) return setRefund({ status: 'failed', statusReason: 'wallet_not_allowed' })
      const place = addresses.place(refund)
      setRefund({ place, openedAt: payment.at })
      await openRefundDeposit(tx, { ...refund, place }, addresses.watchSeconds)
    },
  })
  return createRefundAnswer(opened)
}

function beginDeductions({ refund, setRefund, payment }: RefundDraft): void {
  if (refund.status === 'awaiting_funds' && refund.openedAt === null) setRefund({ openedAt: payment.at })
}
