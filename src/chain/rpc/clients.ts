import { createClient, http } from 'viem'
import { Bloated, CutOff } from './failure.ts'

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
 * Most of one answer. Bytes bound what is read, but not what `JSON.parse` makes of it: 33 KB on the wire were 31 MB of `{},`
 * and 700 MB of objects.
 */
type Limits = {
  readonly bytes: number
  /** Bytes that begin a list or an object, or part two values: some 60 bytes of memory each, in an object 120. */
  readonly marks: number
  /** Of these marks the ones that begin an object: some 200 bytes of memory. */
  readonly objects: number
}

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

/** `timeoutMs`: for the whole request. What a meter throws is in what viem throws. */
export function connectClients(url: string, timeoutMs: number): Clients {
  const connect = (limitsOf: LimitsOf, timeout: number, batch?: { batchSize: number }): Request => {
    const fetchFn = createFetch(limitsOf)
    // viem must not retry: reads go to the next node, and a lost answer to a broadcast means "unknown".
    const settings = { timeout, retryCount: 0, fetchFn, maxResponseBodySize: false, batch: batch ?? false } as const
    return createClient({ transport: http(url, settings), cacheTime: 0 }).request as unknown as Request
  }
  return {
    together: connect(limitsTogether, timeoutMs, { batchSize: 50 }),
    apart: connect(() => limited(MOST_BYTES), timeoutMs),
    small: connect(() => limited(SMALL_BYTES), timeoutMs),
    patient: connect(() => PATIENT, timeoutMs * PATIENCE),
  }
}

/** By the body of a request. */
type LimitsOf = (body: unknown) => Limits

const limited = (bytes: number): Limits => ({ bytes, marks: bytes / BYTES_PER_MARK, objects: bytes / BYTES_PER_OBJECT })

function limitsTogether(body: unknown): Limits {
  const questions: unknown = typeof body === 'string' ? JSON.parse(body) : null
  const count = Array.isArray(questions) ? questions.length : 1
  return limited(Math.min(MOST_BYTES, count * BYTES_PER_QUESTION))
}

/**
 * `fetch` that answers when the whole body is there. viem's deadline ends with the headers otherwise, and a body that
 * comes byte by byte would be waited for without end.
 */
function createFetch(limitsOf: LimitsOf): typeof fetch {
  return async (input, init) => {
    const meter = createMeter(limitsOf(init?.body))
    // Another host than the configured one would count for the quorum.
    const response = await fetch(input, { ...init, redirect: 'error' })
    const chunks: Uint8Array[] = []
    for await (const chunk of response.body ?? []) {
      meter.take(chunk)
      chunks.push(chunk)
    }
    const { status, statusText, headers } = response
    return new Response(Buffer.concat(chunks), { status, statusText, headers: kept(headers) })
  }
}

const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/**
 * Counts one answer while it arrives. Throws CutOff for too many bytes, since less may be asked then, and Bloated for what no
 * honest node answers. Marks inside of texts count too: what we read is hexadecimal.
 */
function createMeter(limits: Limits): { take(chunk: Uint8Array): void } {
  let [bytes, marks, objects] = [0, 0, 0]
  return {
    take(chunk) {
      bytes += chunk.byteLength
      if (bytes > limits.bytes) throw new CutOff()
      const begun = count(chunk, OBJECT)
      objects += begun
      marks += begun + count(chunk, LIST) + count(chunk, COMMA)
      if (marks > limits.marks || objects > limits.objects) throw new Bloated()
    },
  }
}

/** A loop over all bytes takes four times as long. */
function count(chunk: Uint8Array, byte: number): number {
  let found = 0
  for (let place = chunk.indexOf(byte); place !== -1; place = chunk.indexOf(byte, place + 1)) found += 1
  return found
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
