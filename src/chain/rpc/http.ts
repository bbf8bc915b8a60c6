import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Agent, request } from 'undici'
import { bloated, createHttpFailure, cutOff, type HttpAnswer, isBusy, isSuccess, Unanswered } from './failure.ts'

/**
 * Limits of one answer. Bytes limit what is read, but not what `JSON.parse` makes of it: 33 KB on the wire were 31 MB
 * of `{},` and 700 MB of objects.
 */
export type Limits = {
  readonly bytes: number
  /** Bytes that begin a list or an object, or separate two values: some 60 bytes of memory each, in an object 120. */
  readonly marks: number
  /** Marks that begin an object: some 200 bytes of memory. */
  readonly objects: number
}

export type Call = { readonly method: string; readonly params: readonly unknown[] }

/** Returns the result. Throws Unanswered. */
export type Request = (call: Call) => Promise<unknown>

/** Sends the body as JSON and returns the parsed answer. Throws Unanswered. */
export type Post = (body: unknown, bounds: { readonly limits: Limits; readonly timeoutMs: number }) => Promise<unknown>

/** Connections stay open between two blocks. An idle one does not keep the process alive. */
const agent = new Agent({ keepAliveTimeout: 30_000 })

/** Uses undici's own `request`: `fetch` takes six times the CPU. Credentials in the URL become a header. */
export function createPost(url: string): Post {
  const address = new URL(url)
  const { username, password } = address
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'Pinrail/1',
  }
  if (username !== '') {
    const credentials = [username, password].map(decodeURIComponent).join(':')
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    address.username = ''
    address.password = ''
  }
  return async (body, { limits, timeoutMs }) => {
    const asked = { headers, body: JSON.stringify(body), signal: AbortSignal.timeout(timeoutMs) }
    const http = await ask(address, asked, limits).catch(silence)
    const answer = parseJson(http.text)
    // A status that asks for patience counts before the text of the body.
    if (!isBusy(http) && (isSuccess(http) ? answer !== undefined : isError(answer))) return answer
    throw createHttpFailure(http)
  }
}

type Asked = { readonly headers: Record<string, string>; readonly body: string; readonly signal: AbortSignal }

/** The signal limits the whole body too: one that arrives byte by byte would be waited for without end. */
async function ask(address: URL, asked: Asked, limits: Limits): Promise<HttpAnswer> {
  const { statusCode: status, headers, body } = await request(address, { ...asked, method: 'POST', dispatcher: agent })
  const meter = createMeter(limits)
  const chunks: Uint8Array[] = []
  for await (const chunk of headers['content-encoding'] === 'gzip' ? unzip(body) : body) {
    meter.take(chunk)
    chunks.push(chunk)
  }
  // Another host than the configured one would count for the quorum.
  if (status >= 300 && status < 400) throw new Unanswered({ kind: 'silent', answer: `HTTP ${status}: a redirect` })
  return { status, retryAfter: headers['retry-after'], text: Buffer.concat(chunks).toString() }
}

/** A failure of either stream ends both, and the reader receives it. */
const unzip = (body: Readable): Readable => pipeline(body, createGunzip(), () => undefined)

/** Reports only the code: a message can contain the URL. */
function silence(thrown: Error & { code?: unknown }): never {
  if (thrown instanceof Unanswered) throw thrown
  if (thrown.name === 'TimeoutError') throw new Unanswered({ kind: 'silent', answer: 'no whole answer in time' })
  const code = typeof thrown.code === 'string' ? thrown.code : thrown.name
  throw new Unanswered({ kind: 'silent', answer: `no whole answer: ${code}` })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Some nodes send a JSON-RPC error with an HTTP error status as well. */
const isError = (answer: unknown): boolean => typeof Object(Object(answer).error).message === 'string'

const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/**
 * Counts one answer while it arrives. Throws for too many bytes, since less may be requested then, and for what no
 * honest node answers. Marks inside of strings count too: the data that is read is hexadecimal.
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
