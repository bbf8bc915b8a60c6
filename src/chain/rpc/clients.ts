import { createBatches } from './batches.ts'
import { readResult } from './failure.ts'
import { createPost, type Limits, type Request } from './http.ts'

/** How one node is asked by HTTP: how much it may answer, and in what time. */

const MB = 1024 * 1024

/** Most bytes of one answer. What is larger is asked for in parts. */
const MOST_BYTES = 10 * MB

/** Most bytes for each of several questions in one request: a block of 6,660 transactions has 0.46 MB, a transaction 0.42. */
const BYTES_PER_QUESTION = MB

/**
 * Most bytes of a single receipt, when six of them are asked for at a time: they are there within 2 s at 50 Mbit/s. Our own,
 * of 100 payouts, are 0.15 MB.
 */
const SMALL_BYTES = 2 * MB

/**
 * Most bytes of a receipt that is larger; they are asked for one at a time. A transaction has 16,777,216 gas at most
 * (EIP-7825). An empty log takes 375 of them, 381 with the code for it, and is 350 bytes of JSON: 44,000 logs in 15.5 MB,
 * more than topics or data can make of the gas. Twice that, since nodes may tell more about a log.
 */
const MOST_RECEIPT_BYTES = 32 * MB

/**
 * For so many bytes an answer may have one mark, and one object. The densest that strangers can make of what is read are
 * access lists without keys, 74 bytes with four marks and one object for each address. So an honest answer is too large
 * before it has too many.
 */
const BYTES_PER_MARK = 16
const BYTES_PER_OBJECT = 64

/** Of the largest receipt: 44,000 logs have 11 marks each and one object. 76,000 may be there. */
const PATIENT: Limits = { bytes: MOST_RECEIPT_BYTES, marks: MOST_RECEIPT_BYTES / 40, objects: MOST_RECEIPT_BYTES / 256 }

/** How many times the deadline of other calls such a receipt has: 16 MB take 2.6 s at 50 Mbit/s, beside other large answers 8 s. */
const PATIENCE = 3

type Clients = {
  /** Several calls in one HTTP request. */
  readonly together: Request
  readonly apart: Request
  /** For a single receipt: at first, and when that is not enough. */
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
      const limits = limited(Math.min(MOST_BYTES, count * BYTES_PER_QUESTION))
      return post(body, { limits, timeoutMs })
    }),
    apart: single(limited(MOST_BYTES)),
    small: single(limited(SMALL_BYTES)),
    patient: single(PATIENT, PATIENCE),
  }
}

const limited = (bytes: number): Limits => ({ bytes, marks: bytes / BYTES_PER_MARK, objects: bytes / BYTES_PER_OBJECT })
