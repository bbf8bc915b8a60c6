import { CompleteAsyncError } from '@temporalio/activity'
import type { Client } from '@temporalio/client'
import { BARE_QUEUE, bareDeliveryId } from './names.ts'

/** The size of what an activity of a payment returns: the payment's state as the workflow keeps it (0.6 KB). */
const STATE = JSON.stringify({ state: 'x'.repeat(600) })

export type BareActivities = ReturnType<typeof createBareActivities>

/** Calls `onTransfer` with each transfer that waits for its completion. */
export function createBareActivities(client: Client, onTransfer: (id: string) => void) {
  const nothing = async (_id: string): Promise<string> => STATE
  return {
    openOrder: nothing,
    readOrder: nothing,
    convert: nothing,
    deliver: nothing,
    transfer: async (id: string): Promise<string> => {
      onTransfer(id)
      throw new CompleteAsyncError()
    },
    announce: async (id: string): Promise<string> => {
      await client.workflow.start('bareDelivery', {
        workflowId: bareDeliveryId(id),
        taskQueue: BARE_QUEUE,
        args: [id],
      })
      return STATE
    },
  }
}
