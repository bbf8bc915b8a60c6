import type { Priority } from '@temporalio/common'

/**
 * The order of the tasks that wait in a queue, the lowest number first. Tasks of one number take turns by merchant, for
 * which the server needs `matching.enableFairness`. A queue has several partitions, each with its own order, so the
 * order is approximate.
 */
const ORDER = { payment: 1, firstTry: 2, notification: 3, retry: 4 } as const

export const paymentPriority = (merchantId: string): Priority => ({
  priorityKey: ORDER.payment,
  fairnessKey: merchantId,
})

/** Without a merchant it has that of the workflow that starts it. */
export const deliveryPriority = (merchantId?: string): Priority => ({
  priorityKey: ORDER.firstTry,
  ...(merchantId !== undefined && { fairnessKey: merchantId }),
})

/** For a delivery's later tries, which are less urgent. */
export const RETRY_PRIORITY: Priority = { priorityKey: ORDER.retry }

export const notificationPriority = (channelId: string): Priority => ({
  priorityKey: ORDER.notification,
  fairnessKey: channelId,
})
