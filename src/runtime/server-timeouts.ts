/**
 * Returns the limits of a server for a slow client, in milliseconds: for its headers, and for the whole request. Node
 * checks for such clients every 30 s by default, so that a limit of ten seconds would take up to forty.
 */
export function createTimeouts({ headersMs, requestMs }: ServerTimeouts) {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.max(1, Math.floor(headersMs / 10)),
  }
}

export type ServerTimeouts = { readonly headersMs: number; readonly requestMs: number }

/** Less than Node's 60 s and 300 s. */
export const SERVER_TIMEOUTS: ServerTimeouts = { headersMs: 10_000, requestMs: 30_000 }
