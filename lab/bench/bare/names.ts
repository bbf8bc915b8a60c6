export const BARE_QUEUE = 'bare'
export const bareDeliveryId = (id: string): string => `${id}_delivery`

/** The first line of the worker. Every later line is the id of a transfer that waits. */
export const READY = 'ready'
