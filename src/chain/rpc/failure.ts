/** Why a node gave no answer that can be used. */
export type FailureKind =
  /** No answer came in time, or the node says that it has too many requests: it may answer later. */
  | 'silent'
  /** The node answered with an error. */
  | 'refused'
  /** The answer has not the shape that the method's answer must have. */
  | 'malformed'

/**
 * The only error that leaves this folder. Its message names the node by its place in POLYGON_RPC_URLS: an address may
 * hold a key, so neither the address nor an error that holds it goes on.
 */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly kind: FailureKind
  /** The node's own words. */
  readonly answer: string
  /** For how many milliseconds the node asked to be left alone. */
  readonly retryAfterMs: number
  /** Whether we stopped reading at our own limit. No words of a node make it so. */
  readonly isCutOff: boolean

  constructor(
    place: string,
    failure: { kind: FailureKind; answer: string; retryAfterMs?: number; isCutOff?: boolean },
  ) {
    super(`${place}: ${failure.answer}`)
    this.kind = failure.kind
    this.answer = failure.answer
    this.isCutOff = failure.isCutOff ?? false
    this.retryAfterMs = failure.retryAfterMs ?? 0
  }
}

/** What ends since the answer is not needed any more. */
export const unawaited = (place: string): NodeFailure =>
  new NodeFailure(place, { kind: 'silent', answer: 'nobody waits for it any more' })

/** Whether a read may succeed later. */
export function isNoAnswer(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'silent'
}

/** Whether the node is wrong: what it answers to the same question again counts no more. */
export function isMalformed(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'malformed'
}

/**
 * Whether smaller ranges of logs may be answered. Nodes have too many texts for that to know all, so every refusal counts.
 * Not a node that asks to be left alone, with code -32005 too: splitting would add more.
 */
export function maySplit(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.kind === 'refused'
}

/** What a read ends with that we stop at our own limit. */
export class CutOff extends Error {
  override readonly name = 'CutOff'

  constructor() {
    super('the answer is too large')
  }
}

/** What a read ends with whose answer would take far more memory than bytes: no honest one does. */
export class Bloated extends Error {
  override readonly name = 'Bloated'

  constructor() {
    super('the answer has more values than any that is true')
  }
}

/** Whether we stopped reading: the node does answer. */
export function isCutOff(failure: unknown): boolean {
  return failure instanceof NodeFailure && failure.isCutOff
}

/** Whether the answer was too large, by our limit or in the node's words, as far as they are known: less may be answered. */
export function isTooLarge(failure: unknown): boolean {
  if (!(failure instanceof NodeFailure) || failure.kind !== 'refused') return false
  return failure.isCutOff || TOO_MUCH.test(failure.answer) || isLargeBody(failure)
}

const isLargeBody = ({ answer }: NodeFailure): boolean => answer.startsWith('HTTP 413')

/** Texts of such refusals; some read like BUSY. */
const TOO_MUCH =
  /more than \d+ results|max(imum)? results|response size|too large|block range|too many (blocks|logs|results)/i

/** Some nodes refuse with a status of HTTP as well. */
const REFUSING = [400, 413]

/** Texts with which nodes and their front doors ask to be asked later. */
const BUSY = /rate limit|limit exceeded|request limit|too many|busy|timed? ?out|try again|overloaded|capacity/i

const MOST_ANSWER = 300

/** What viem threw, as this folder's own error. `redact` takes the secrets of the address out of a text. */
export function failureOf(place: string, thrown: unknown, redact: (text: string) => string): NodeFailure {
  // viem wraps what its `fetch` throws.
  const stopped = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  if (stopped instanceof CutOff)
    return new NodeFailure(place, { kind: 'refused', answer: stopped.message, isCutOff: true })
  if (stopped instanceof Bloated) return new NodeFailure(place, { kind: 'malformed', answer: stopped.message })
  const answer = redact(textOf(thrown)).slice(0, MOST_ANSWER)
  if (TOO_MUCH.test(answer)) return new NodeFailure(place, { kind: 'refused', answer })
  const transport =
    thrown instanceof Error &&
    ['HttpRequestError', 'TimeoutError', 'AbortError'].includes(thrown.name) &&
    !REFUSING.includes(statusOf(thrown) ?? 0)
  if (!transport && !BUSY.test(answer)) return new NodeFailure(place, { kind: 'refused', answer })
  return new NodeFailure(place, { kind: 'silent', answer, retryAfterMs: retryAfterOf(thrown) })
}

/** The node's own text: viem's messages hold the address and the request, its details do not. */
function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (thrown.name === 'TimeoutError') return 'no whole answer in time'
  const details = 'details' in thrown && typeof thrown.details === 'string' ? thrown.details : ''
  const status = statusOf(thrown)
  return (
    (status === null ? '' : `HTTP ${status}: `) + (details === '' ? (thrown.message.split('\n')[0] ?? '') : details)
  )
}

const statusOf = (thrown: Error): number | null =>
  'status' in thrown && typeof thrown.status === 'number' ? thrown.status : null

/** `Retry-After` in seconds (RFC 9110, 10.2.3), at most a minute. */
function retryAfterOf(thrown: unknown): number {
  if (!(thrown instanceof Error) || !('headers' in thrown) || !(thrown.headers instanceof Headers)) return 0
  const seconds = Number(thrown.headers.get('retry-after'))
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(60, seconds) * 1000 : 0
}

/** Parts of an address shorter than this are words such as `v2`, not keys. */
const SHORTEST_KEY = 6

/** Takes everything of a node's address that may be a key out of a text. */
export function createRedaction(address: string): (text: string) => string {
  const url = new URL(address)
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()]
  const keys = [...parts, ...parts.map(decodeURIComponent)].filter(({ length }) => length >= SHORTEST_KEY)
  const secrets = [...new Set([address, url.href, url.pathname.slice(1) + url.search, ...keys])]
    .filter(({ length }) => length >= SHORTEST_KEY)
    .toSorted((a, b) => b.length - a.length)
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text)
}
