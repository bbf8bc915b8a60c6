import { createBatches } from './batches.ts'
import { readResult } from './failure.ts'
import { createPost, type Limits, type Request } from './http.ts'

/** HTTP clients of one node: they limit the size of an answer, and the time for it. */

const MB = 1024 * 1024

/** Maximum bytes of one answer. Larger data is requested in parts. */
const MAX_BYTES = 10 * MB

/**
 * Maximum bytes for each of several calls in one request: a block of 6,660 transactions has 0.46 MB, a transaction
 * 0.42.
 */
const BYTES_PER_QUESTION = MB

/**
 * Maximum bytes of a single receipt, if six of them are requested at a time: they arrive within 2 s at 50 Mbit/s. The
 * platform's own, of 100 payouts, have 0.15 MB.
 */
const SMALL_BYTES = 2 * MB

/**
 * Maximum bytes of a larger receipt; these are requested one at a time. A transaction has at most 16,777,216 gas
 * (EIP-7825). An empty log takes 375 of it, 381 with the code for it, and is 350 bytes of JSON: 44,000 logs in 15.5 MB,
 * more than topics or data can make of the gas. Twice that, since nodes may add fields to a log.
 */
const MAX_RECEIPT_BYTES = 32 * MB

/**
 * Bytes of an answer for each mark, and for each object, that it may have. The densest data that strangers can make are
 * access lists without keys, 74 bytes with four marks and one object for each address. So an honest answer is too large
 * before it has too many.
 */
const BYTES_PER_MARK = 16
const BYTES_PER_OBJECT = 64

/** For the largest receipt: 44,000 logs have 11 marks and one object each. 76,000 logs are allowed. */
const PATIENT: Limits = { bytes: MAX_RECEIPT_BYTES, marks: MAX_RECEIPT_BYTES / 40, objects: MAX_RECEIPT_BYTES / 256 }

/** Factor of the deadline for such a receipt: 16 MB take 2.6 s at 50 Mbit/s, and 8 s next to other large answers. */
const PATIENCE = 3

type Clients = {
  readonly together: Request
  readonly apart: Request
  /** For a single receipt: `small` at first, and `patient` if that is not enough. */
  readonly small: Request
  readonly patient: Request
}

/** `timeoutMs`: for the whole request. */
export function connectClients(url: string, timeoutMs: number): Clients {
  const post = createPost(url)
  const single = (limits: Limits, patience = 1): Request => {
    const bounds = { limits, timeoutMs: timeoutMs * patience }
    return async (call) => readResult(await post({ jsonrpc: '2.0', id: 1, ...call }, bounds))
  }
  return {
    together: createBatches((body, count) => {
      const limits = limited(Math.min(MAX_BYTES, count * BYTES_PER_QUESTION))
      return post(body, { limits, timeoutMs })
    }),
    apart: single(limited(MAX_BYTES)),
    small: single(limited(SMALL_BYTES)),
    patient: single(PATIENT, PATIENCE),
  }
}

const limited = (bytes: number): Limits => ({ bytes, marks: bytes / BYTES_PER_MARK, objects: bytes / BYTES_PER_OBJECT })
