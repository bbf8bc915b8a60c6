import { createClient, http } from 'viem'
import { CutOff } from './failure.ts'

/** How one node is asked by HTTP: how much it may answer, and in what time. */

/** Most bytes of one answer. What is larger is asked for in parts. */
const MOST_BYTES = 10 * 1024 * 1024

/**
 * Most bytes of a single receipt, when six of them are asked for at a time: they are there within 2 s at 50 Mbit/s. Our own,
 * of 100 payouts, are 0.15 MB.
 */
const SMALL_BYTES = 2 * 1024 * 1024

/**
 * Most bytes of a receipt that is larger; they are asked for one at a time. A transaction has 16,777,216 gas at most
 * (EIP-7825). An empty log takes 375 of them, 381 with the code for it, and is 350 bytes of JSON: 44,000 logs in 15.5 MB,
 * more than topics or data can make of the gas. Twice that, since nodes may tell more about a log.
 */
const MOST_RECEIPT_BYTES = 32 * 1024 * 1024

/** How many times the deadline of other calls such a receipt has: 16 MB take 2.6 s at 50 Mbit/s, beside other large answers 8 s. */
const PATIENCE = 3

/** For methods that viem's typed schema does not have. */
export type Request = (call: { method: string; params: readonly unknown[] }) => Promise<unknown>

type Clients = {
  /** Several calls in one HTTP request. */
  readonly together: Request
  readonly apart: Request
  /** For a single receipt: at first, and when that is not enough. */
  readonly small: Request
  readonly patient: Request
}

/** `timeoutMs`: for the whole request. What is larger than it may be is thrown as CutOff, in what viem throws. */
export function connectClients(url: string, timeoutMs: number): Clients {
  const connect = (mostBytes: number, timeout: number, batch?: { batchSize: number }): Request => {
    const fetchFn = createFetch(mostBytes)
    // viem must not retry: reads go to the next node, and a lost answer to a broadcast means "unknown".
    const settings = { timeout, retryCount: 0, fetchFn, maxResponseBodySize: false, batch: batch ?? false } as const
    return createClient({ transport: http(url, settings), cacheTime: 0 }).request as unknown as Request
  }
  return {
    together: connect(MOST_BYTES, timeoutMs, { batchSize: 50 }),
    apart: connect(MOST_BYTES, timeoutMs),
    small: connect(SMALL_BYTES, timeoutMs),
    patient: connect(MOST_RECEIPT_BYTES, timeoutMs * PATIENCE),
  }
}

/**
 * `fetch` that answers when the whole body is there. viem's deadline ends with the headers otherwise, and a body that
 * comes byte by byte would be waited for without end.
 */
function createFetch(mostBytes: number): typeof fetch {
  return async (input, init) => {
    // Another host than the configured one would count for the quorum.
    const response = await fetch(input, { ...init, redirect: 'error' })
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > mostBytes) throw new CutOff()
      chunks.push(chunk)
    }
    const { status, statusText, headers } = response
    return new Response(Buffer.concat(chunks), { status, statusText, headers: kept(headers) })
  }
}

/** Not the length or encoding: the body is decoded already. */
function kept(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    ['content-type', 'retry-after'].flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}
