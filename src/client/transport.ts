import { OPERATIONS, type Operations } from './api-types.ts'
import { type ApiError, ConnectionError, errorFor } from './errors.ts'

export type ClientOptions = {
  readonly apiKey: string
  /** The URL of the API, without /v1. */
  readonly baseUrl: string
  /** Retries of a request that got no response, or a response that asks for a retry. Default 3. */
  readonly retries?: number
  /** Timeout of each try in milliseconds. Default 20,000. */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
  /** Waits between two tries. The argument is in milliseconds. */
  readonly wait?: (milliseconds: number) => Promise<void>
}

export type OperationId = keyof Operations
export type Query<K extends OperationId> = Operations[K]['query']
export type Body<K extends OperationId> = Operations[K]['body']
export type Answer<K extends OperationId> = Operations[K]['answer']

export type Args<K extends OperationId> = {
  readonly query?: Query<K>
  readonly body?: Body<K>
  /** The value of `{id}` in the path. */
  readonly path?: Readonly<Record<string, string>>
  /** By default every POST gets a random key, which its retries share. */
  readonly idempotencyKey?: string | undefined
}

export type Transport = {
  <K extends OperationId>(operation: K, args?: Args<K>): Promise<Answer<K>>
  readonly text: <K extends OperationId>(operation: K, args?: Args<K>) => Promise<string>
}

const MAX_WAIT_MS = 8000
/** Statuses after which any request can be repeated. */
const TEMPORARY = [429, 500, 502, 503, 504]

export function createTransport(options: ClientOptions): Transport {
  const call = async <K extends OperationId>(operation: K, args: Args<K> = {}): Promise<Answer<K>> =>
    JSON.parse(await ask(options, operation, args)) as Answer<K>
  return Object.assign(call, {
    text: <K extends OperationId>(operation: K, args: Args<K> = {}) => ask(options, operation, args),
  })
}

async function ask<K extends OperationId>(options: ClientOptions, operation: K, args: Args<K>): Promise<string> {
  const { retries = 3, wait = pause } = options
  const [method, template] = OPERATIONS[operation]
  const url = buildUrl(options.baseUrl, template, args)
  const headers: Record<string, string> = { authorization: `Bearer ${options.apiKey}` }
  if (args.body !== undefined) headers['content-type'] = 'application/json'
  // One key for all tries, so that the server repeats the response of the first try without its effect.
  if (method === 'POST') headers['idempotency-key'] = args.idempotencyKey ?? crypto.randomUUID()
  const init = { method, headers, ...(args.body !== undefined && { body: JSON.stringify(args.body) }) }
  for (let tried = 0; ; tried++) {
    const outcome = await attempt(options, url, init)
    if ('answer' in outcome) return outcome.answer
    if (tried >= retries || !outcome.again) throw outcome.error
    await wait(Math.max(outcome.afterMs, backoff(tried)))
  }
}

type Outcome =
  | { readonly answer: string }
  | { readonly error: Error; readonly again: boolean; readonly afterMs: number }

async function attempt(options: ClientOptions, url: string, init: RequestInit): Promise<Outcome> {
  const { fetch: send = fetch, timeoutMs = 20_000 } = options
  try {
    const response = await send(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    const text = await response.text()
    if (response.ok) {
      // Incomplete JSON throws, and the request is repeated.
      if (response.headers.get('content-type')?.startsWith('application/json') === true) JSON.parse(text)
      return { answer: text }
    }
    const error = errorFor(response.status, text)
    const seconds = Number(response.headers.get('retry-after') ?? 0)
    const afterMs = Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_WAIT_MS) : 0
    return { error, again: isTemporary(error), afterMs }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    return {
      error: new ConnectionError(`No response from ${url}: ${cause}`, { cause: error }),
      again: true,
      afterMs: 0,
    }
  }
}

function isTemporary({ status, code }: ApiError): boolean {
  return TEMPORARY.includes(status) || code === 'idempotency_key_in_use'
}

/** Milliseconds: 500, doubled each time up to 8000, with a random factor so that clients do not all retry at once. */
function backoff(tried: number): number {
  return Math.min(500 * 2 ** tried, MAX_WAIT_MS) * (0.75 + Math.random() / 2)
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

function buildUrl(baseUrl: string, template: string, { path = {}, query }: Args<OperationId>): string {
  const filled = template.replace(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(path[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value))
  return `${baseUrl.replace(/\/$/, '')}${filled}${search.size > 0 ? `?${search.toString()}` : ''}`
}
