import { loadRefund, openRefundDeposit } from '../../db/refunds/refunds.ts'
import type { RefundAnswer } from '../../domain/refund/refund-step.ts'
import { changeRefund } from '../../payments/change-refund.ts'
import { createRefundAnswer, type RefundDeps } from './refund-deps.ts'

/** Makes the address for the USDC, once: its key follows from the id of the refund. */
export async function openRefund({ db, context, addresses }: RefundDeps, id: string): Promise<RefundAnswer> {
  const { wallet } = await loadRefund(db, id)
  // Money that went to another address of the platform would come back to it again and again.
  const isOwn = (await addresses?.isOwn(wallet)) ?? false
  const opened = await changeRefund(db, context, {
    id,
    change: async ({ refund, setRefund }, tx) => {
      if (refund.status !== 'awaiting_funds' || refund.place !== null) return
      if (addresses === null) return setRefund({ status: 'failed', statusReason: 'no_addresses' })
      if (isOwn) return setRefund({ status: 'failed', statusReason: 'wallet_not_allowed' })
      const place = addresses.place(refund)
      setRefund({ place })
      await openRefundDeposit(tx, { ...refund, place }, addresses.watchSeconds)
    },
  })
  return createRefundAnswer(opened)
}
