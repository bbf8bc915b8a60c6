import { defineSignal, defineUpdate } from '@temporalio/workflow'
import type { Hex } from '../domain/hex.ts'
import type { RefundStatus } from '../domain/refund/refund.ts'

/** The messages that a refund receives. The API imports these; handlers are in refund.ts. */

export type RefundInput = {
  readonly id: string
  readonly paymentId: string
  /** For people who look at the run: the amount with its currency. */
  readonly amount: string
}

/** The row has changed, or a callback of its partner arrived: the run reads the row, and asks the partner if it waits for it. */
export const refundChanged = defineSignal('refundChanged')

/** Waits until the refund is opened. */
export const openRefund = defineUpdate<void, []>('openRefund')

/** Takes a signature of the refund's `typed_data`. The token checks it. */
export const fundRefund = defineUpdate<{ readonly status: RefundStatus }, [{ readonly signature: Hex }]>('fundRefund')

/** Cancels the refund for the merchant, unless its USDC is there. */
export const cancelRefund = defineUpdate<{ readonly status: RefundStatus }, []>('cancelRefund')
