/**
 * Task queues: payments and their activities share one, so that the server can return an activity with the workflow
 * task.
 */
export const PAYMENTS_QUEUE = 'payments'
export const DELIVERIES_QUEUE = 'deliveries'
