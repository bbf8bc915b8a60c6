export const BARE_QUEUE = 'bare'
export const bareDeliveryId = (id: string): string => `${id}_delivery`

/** What the worker says first; everything after it is the id of a transfer that waits. */
export const READY = 'ready'
