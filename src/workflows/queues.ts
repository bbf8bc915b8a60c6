/** Payments and their activities share a queue, so that the server can return an activity with the workflow task. */
export const PAYMENTS_QUEUE = 'payments'
export const DELIVERIES_QUEUE = 'deliveries'
