import { Agent, errors, request } from 'undici'
import { parseRetryAfter } from '../runtime/retry-after.ts'
import { PartnerError } from './provider.ts'

/** Most answers have a few hundred bytes; a page of 20 disputes at Stripe has up to 150,000 characters of evidence each. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/** Maximum wait before another call in seconds, even if a partner asks for more. The minimum is one second. */
const MAX_RETRY_AFTER_SECONDS = 3600

/** Limits, in milliseconds, for callers whose signal never fires. Every caller should set a tighter one. */
const agent = new Agent({
  connect: { timeout: 10_000 },
  headersTimeout: 30_000,
  bodyTimeout: 30_000,
  keepAliveTimeout: 30_000,
  connections: 64,
})

export type HttpCall = {
  readonly to: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

export type HttpAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** Follows no redirects, decompresses nothing. PartnerError `unknown`: it may have taken effect without an answer. */
export async function send(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  try {
    const answer = await request(call.url, {
      method: call.method,
      headers: { 'accept-encoding': 'identity', 'user-agent': 'Pinrail/1', ...call.headers },
      body: call.body ?? null,
      signal,
      dispatcher: agent,
    })
    const text = await readBounded(answer.body, call.to)
    return { status: answer.statusCode, headers: singleValues(answer.headers), text }
  } catch (error) {
    if (error instanceof PartnerError) throw error
    if (isAbortedEarly(signal)) throw unclear(call.to, 'the call was given up')
    throw new PartnerError('unknown', `${call.to}: ${whyNoAnswer(error)}`, { isWhole: true })
  }
}

/** True if the caller aborted the call before its time was over: that proves nothing about the partner. */
const isAbortedEarly = ({ aborted, reason }: AbortSignal): boolean => aborted && reason?.name !== 'TimeoutError'

/** Sends, and throws PartnerError for a status that is no answer to the call itself. */
export async function ask(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const answer = await send(call, signal)
  const trouble = findTrouble(call.to, answer)
  if (trouble !== null) throw trouble
  return answer
}

/** A status that is neither an answer nor a clear refusal of the platform's account is `unknown`. */
function findTrouble(to: string, answer: HttpAnswer): PartnerError | null {
  const { status } = answer
  if (status === 401 || status === 403)
    return new PartnerError('misconfigured', `${to}: refused our account or signature with ${status}`, {
      isWhole: true,
    })
  const asked = parseRetryAfter(answer.headers['retry-after'], Date.now())
  if (status === 429 || (status === 503 && asked !== null))
    return new PartnerError('throttled', `${to}: asked us to come back later with ${status}`, {
      retryAfterSeconds: asked === null ? null : Math.min(Math.max(asked, 1), MAX_RETRY_AFTER_SECONDS),
    })
  if (status >= 500) return new PartnerError('unknown', `${to}: answered ${status}`, { isWhole: true })
  if (status >= 300 && status < 400) return unclear(to, `answered ${status}`)
  return null
}

/** The page of a proxy does not show if the call had an effect, so any answer other than JSON is `unknown`. */
export function readJson(to: string, answer: HttpAnswer): unknown {
  try {
    return parseStorable(answer.text)
  } catch {
    throw unclear(to, `answered ${answer.status} without JSON`)
  }
}

/**
 * Postgres stores neither NUL nor half a character: such an order would be written, refused and read again without end.
 */
export function parseStorable(json: string): unknown {
  return JSON.parse(json, (_key, value) => (typeof value === 'string' ? storable(value) : value))
}

const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

export function unclear(to: string, what: string): PartnerError {
  return new PartnerError('unknown', `${to}: ${what}`)
}

async function readBounded(body: AsyncIterable<unknown>, to: string): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw unclear(to, `answered with more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks).toString('utf8')
}

function singleValues(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
}

/** Returns only the error's code: messages of the HTTP library can contain parts of the request. */
function whyNoAnswer(error: unknown): string {
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError'))
    return 'the call was cut off before an answer came'
  if (error instanceof errors.UndiciError) return `no answer (${error.code})`
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return `no answer (${typeof code === 'string' ? code : 'connection trouble'})`
}
