import { bloated, createHttpFailure, cutOff, isBusy, Unanswered } from './failure.ts'

/** One HTTP request to a node, and the limits of its answer. */

/**
 * Most of one answer. Bytes bound what is read, but not what `JSON.parse` makes of it: 33 KB on the wire were 31 MB of `{},`
 * and 700 MB of objects.
 */
export type Limits = {
  readonly bytes: number
  /** Bytes that begin a list or an object, or part two values: some 60 bytes of memory each, in an object 120. */
  readonly marks: number
  /** Marks that begin an object: some 200 bytes of memory. */
  readonly objects: number
}

/** One call of JSON-RPC. */
export type Call = { readonly method: string; readonly params: readonly unknown[] }

/** Returns the result. Throws Unanswered. */
export type Request = (call: Call) => Promise<unknown>

/** Sends the body as JSON and returns the parsed answer. Throws Unanswered. */
export type Post = (body: unknown, bounds: { readonly limits: Limits; readonly timeoutMs: number }) => Promise<unknown>

/** Credentials in the address become a header: `fetch` refuses them. */
export function createPost(url: string): Post {
  const address = new URL(url)
  const { username, password } = address
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (username !== '') {
    const credentials = [username, password].map(decodeURIComponent).join(':')
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    address.username = ''
    address.password = ''
  }
  return async (body, { limits, timeoutMs }) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(timeoutMs) }
    // Another host than the configured one would count for the quorum.
    const { response, text } = await fetchText(address, { ...init, redirect: 'error' }, limits).catch(silence)
    const answer = parseJson(text)
    // A status that asks for patience counts before the words of the body.
    if (!isBusy(response) && (response.ok ? answer !== undefined : isError(answer))) return answer
    throw createHttpFailure(response, text)
  }
}

/** The signal bounds the whole body too: one that comes byte by byte would be waited for without end. */
async function fetchText(address: URL, init: RequestInit, limits: Limits) {
  const response = await fetch(address, init)
  const meter = createMeter(limits)
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body ?? []) {
    meter.take(chunk)
    chunks.push(chunk)
  }
  return { response, text: Buffer.concat(chunks).toString() }
}

/** `fetch` says only that it failed; the code of the cause says why. */
function silence(thrown: Error & { cause?: { code?: unknown } }): never {
  if (thrown instanceof Unanswered) throw thrown
  if (thrown.name === 'TimeoutError') throw new Unanswered({ kind: 'silent', answer: 'no whole answer in time' })
  const code = thrown.cause?.code
  throw new Unanswered({ kind: 'silent', answer: thrown.message + (typeof code === 'string' ? `: ${code}` : '') })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Some nodes answer an error of JSON-RPC with a status of HTTP as well. */
const isError = (answer: unknown): boolean => typeof Object(Object(answer).error).message === 'string'

const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/**
 * Counts one answer while it arrives. Throws for too many bytes, since less may be asked then, and for what no honest node
 * answers. Marks inside of texts count too: what we read is hexadecimal.
 */
function createMeter(limits: Limits): { take(chunk: Uint8Array): void } {
  let [bytes, marks, objects] = [0, 0, 0]
  return {
    take(chunk) {
      bytes += chunk.byteLength
      if (bytes > limits.bytes) throw cutOff()
      const begun = count(chunk, OBJECT)
      objects += begun
      marks += begun + count(chunk, LIST) + count(chunk, COMMA)
      if (marks > limits.marks || objects > limits.objects) throw bloated()
    },
  }
}

/** A loop over all bytes takes four times as long. */
function count(chunk: Uint8Array, byte: number): number {
  let found = 0
  for (let place = chunk.indexOf(byte); place !== -1; place = chunk.indexOf(byte, place + 1)) found += 1
  return found
}
