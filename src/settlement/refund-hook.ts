import type { Tx } from '../db/db.ts'
import { deposited, returned } from '../domain/ledger.ts'
import { add } from '../domain/money.ts'
import type { RecordedDeposit, ReturnedUsdc } from '../domain/settlement/deposit.ts'
import { createNote } from '../domain/timeline.ts'
import type { ChangeContext } from '../payments/change-payment.ts'
import { changeLockedRefund } from '../payments/change-refund.ts'
import type { Wake } from './settled-hook.ts'

/** Records for refunds and books what final transfers to their addresses, and back from them, mean. */
export function createRefundHooks(context: ChangeContext, wake: Wake) {
  return {
    /** However the USDC is sent, this transfer is what funds the refund. What is too much, or too late, goes back. */
    async onRefundDeposit(tx: Tx, refundId: string, deposit: RecordedDeposit): Promise<void> {
      const { paymentId, expected, txHash, logIndex, units, token, sender } = deposit
      const data = { refund: refundId, tx_hash: txHash, units, token, sender }
      await changeLockedRefund(tx, context, {
        id: refundId,
        wakes: true,
        change: ({ refund, setRefund, payment }) => {
          payment.addNote(createNote(expected ? 'refund.received' : 'deposit.other_token', data))
          if (!expected) return
          payment.addBooking(deposited({ paymentId, reference: `${txHash}:${logIndex}`, micro: units }))
          const receivedMicro = add(refund.receivedMicro, units)
          const isFunded = refund.status === 'awaiting_funds' && BigInt(receivedMicro) >= BigInt(refund.requiredMicro)
          setRefund({
            receivedMicro,
            fundingTxHash: txHash,
            ...(isFunded && { status: 'funded', fundingRefusal: null }),
          })
        },
      })
      tx.afterCommit(() => wake('refunds'))
    },

    async onReturned(tx: Tx, { refundId, paymentId, index, micro, txHash }: ReturnedUsdc): Promise<void> {
      await changeLockedRefund(tx, context, {
        id: refundId,
        change: ({ setRefund, payment }) => {
          // A sweep that is made again after a reversal of finality keeps its booking.
          payment.addBooking(returned({ paymentId, reference: `${refundId}:${index}`, micro }))
          payment.addNote(createNote('refund.returned', { refund: refundId, tx_hash: txHash, units: micro }))
          setRefund({ returnedTxHash: txHash })
        },
      })
    },
  }
}
