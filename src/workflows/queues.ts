/** Task queues: payments and their activities share one, so that the server may hand an activity over with the task. */
export const PAYMENTS_QUEUE = 'payments'
export const DELIVERIES_QUEUE = 'deliveries'
