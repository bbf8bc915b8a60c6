import { parseRetryAfter } from '../../runtime/retry-after.ts'

export type FailureKind =
  /** No answer arrived in time, or the node reports too many requests: it may answer later. */
  | 'silent'
  | 'refused'
  /** The answer does not have the shape that the method's answer must have. */
  | 'malformed'

/**
 * The only error that leaves this folder. Its message names the node by its place in POLYGON_RPC_URLS: a URL may
 * contain a key, so this folder passes on neither the URL nor an error that contains it.
 */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly kind: FailureKind
  readonly answer: string
  /** Milliseconds for which the node asked for no requests. */
  readonly retryAfterMs: number
  /** True if reading stopped at this program's own limit. No text of a node sets it. */
  readonly isCutOff: boolean
  /** The code of a JSON-RPC error; null for another failure. */
  readonly code: number | null

  constructor(place: string, failure: Failure) {
    super(`${place}: ${failure.answer}`)
    this.kind = failure.kind
    this.answer = failure.answer
    this.isCutOff = failure.isCutOff ?? false
    this.retryAfterMs = failure.retryAfterMs ?? 0
    this.code = failure.code ?? null
  }
}

type Failure = {
  readonly kind: FailureKind
  readonly answer: string
  readonly retryAfterMs?: number
  readonly isCutOff?: boolean
  readonly code?: number
}

/** A request without a result. Its text may contain the key of the URL; `createFailure` removes it. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  readonly failure: Failure
  /** True if the node answered anything but that it is busy: it may answer another request differently. */
  readonly isAboutRequest: boolean

  constructor(failure: Failure, isAboutRequest = false) {
    super(failure.answer)
    this.failure = failure
    this.isAboutRequest = isAboutRequest
  }
}

/** The failure of a call whose answer is no longer needed. */
export const unawaited = (place: string): NodeFailure =>
  new NodeFailure(place, { kind: 'silent', answer: 'its caller has stopped waiting' })

/** Returns true if a read may succeed later. */
export function isNoAnswer(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'silent'
}

/** Returns true if the node is wrong: its next answer to the same question does not count. */
export function isMalformed(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'malformed'
}

/**
 * Returns true if the node may answer smaller ranges of logs. Nodes word this in too many ways to list, so every
 * refusal counts, except a request for fewer calls (also as code -32005): splitting would make more.
 */
export function maySplit(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'refused'
}

/** The end of a request at this program's own limit. */
export const cutOff = (): Unanswered =>
  new Unanswered({ kind: 'refused', answer: 'the answer is too large', isCutOff: true })

/** The end of a request whose answer would take far more memory than bytes: no honest one does. */
export const bloated = (): Unanswered =>
  new Unanswered({ kind: 'malformed', answer: 'the answer has more values than any that is true' })

/** Returns true if reading stopped at the limit: the node does answer. */
export function isCutOff(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.isCutOff
}

/** Returns true if the answer was too large, by the limit here or by a known text of nodes: less may be answered. */
export function isTooLarge(failure: unknown): boolean {
  if (!(failure instanceof NodeFailure) || failure.kind !== 'refused') return false
  return failure.isCutOff || TOO_MUCH.test(failure.answer) || isLargeBody(failure)
}

const isLargeBody = ({ answer }: NodeFailure): boolean => answer.startsWith('HTTP 413')

/** Texts of such refusals; some resemble BUSY. */
const TOO_MUCH =
  /more than \d+ results|max(imum)? results|response size|too large|block range|too many (blocks|logs|results)/i

/** Some nodes refuse with an HTTP status as well. */
const REFUSING = [400, 413]

/** Statuses with which a node asks for fewer calls (RFC 6585, 4; RFC 9110, 15.6.4). */
const BUSY_STATUS = [429, 503]

/** Texts with which nodes and their gateways ask for a later call. */
const BUSY = /rate limit|limit exceeded|request limit|too many|busy|timed? ?out|try again|overloaded|capacity/i

/** Texts for a method that the node does not have. The code for it is -32601 (JSON-RPC 2.0, 5.1). */
const LACKING =
  /method .*(not (found|supported|available|allowed)|does not exist|unsupported)|(unsupported|unknown) method/i

/** Returns true if the node does not have the method: it may be asked another way. */
export const lacksMethod = (failure: unknown): failure is NodeFailure =>
  failure instanceof NodeFailure &&
  failure.kind === 'refused' &&
  (failure.code === -32601 || (failure.code !== null && LACKING.test(failure.answer)))

export type HttpAnswer = {
  readonly status: number
  readonly retryAfter: string | string[] | undefined
  readonly text: string
}

export const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

export const isBusy = ({ status }: HttpAnswer): boolean => BUSY_STATUS.includes(status)

/** Returns the failure in an answer that is not JSON, or whose HTTP status is not a success. */
export function createHttpFailure(http: HttpAnswer): Unanswered {
  const { status, text } = http
  const words = text.replaceAll(/\s+/g, ' ').trim() || 'an empty body'
  const answer = `HTTP ${status}: ${isSuccess(http) ? 'not JSON: ' : ''}${words}`
  const isRefused = TOO_MUCH.test(answer) || (REFUSING.includes(status) && !BUSY.test(answer))
  const failure: Failure = { kind: isRefused ? 'refused' : 'silent', answer, retryAfterMs: readRetryAfter(http) }
  return new Unanswered(failure, !isBusy(http))
}

/** Returns the result in a JSON-RPC answer. Throws Unanswered. */
export function readResult(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Unanswered({ kind: 'refused', answer: `not an answer of JSON-RPC: ${JSON.stringify(answer)}` }, true)
  const { result, error }: { result?: unknown; error?: unknown } = answer
  if (error === undefined || error === null) return result
  const { code, message }: { code?: unknown; message?: unknown } = error
  const text = typeof message === 'string' ? message : JSON.stringify(error)
  const kind = TOO_MUCH.test(text) || !BUSY.test(text) ? 'refused' : 'silent'
  throw new Unanswered({ kind, answer: text, code: typeof code === 'number' ? code : 0 }, true)
}

const MAX_ANSWER = 300

/** Creates this folder's own error. `redact` removes the secrets of the URL from a text. */
export function createFailure(place: string, thrown: unknown, redact: (text: string) => string): NodeFailure {
  const failure: Failure = thrown instanceof Unanswered ? thrown.failure : { kind: 'refused', answer: String(thrown) }
  return new NodeFailure(place, { ...failure, answer: redact(failure.answer).slice(0, MAX_ANSWER) })
}

/** Returns the milliseconds for which a node asks to rest, at most a minute. */
const readRetryAfter = ({ retryAfter }: HttpAnswer): number =>
  Math.min(60, parseRetryAfter(retryAfter?.toString(), Date.now()) ?? 0) * 1000

/** Parts of a URL shorter than this are words such as `v2`, not keys. */
const SHORTEST_KEY = 6

/** Returns a function that removes everything of a node's URL that may be a key from a text. */
export function createRedaction(address: string): (text: string) => string {
  const url = new URL(address)
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()]
  const keys = [...parts, ...parts.map(decodeURIComponent)].filter(({ length }) => length >= SHORTEST_KEY)
  const secrets = [...new Set([address, url.href, url.pathname.slice(1) + url.search, ...keys])]
    .filter(({ length }) => length >= SHORTEST_KEY)
    .toSorted((a, b) => b.length - a.length)
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text)
}
