/**
 * How long a server waits for a client that is slow: with its headers, and with the whole request (milliseconds). Node looks
 * for such clients every 30 s unless it is told otherwise, so that one of ten seconds would be cut off after up to forty.
 */
export function patienceOf({ headersMs, requestMs }: Patience) {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.max(1, Math.floor(headersMs / 10)),
  }
}

export type Patience = { readonly headersMs: number; readonly requestMs: number }

/** Instead of Node's 60 s and 300 s. */
export const PATIENCE: Patience = { headersMs: 10_000, requestMs: 30_000 }
