import type { SendError } from '../domain/webhook.ts'
import { bodyExcerpt, loggedHeaders } from '../outbound/excerpt.ts'
import { type Exchanged, exchange } from '../outbound/exchange.ts'
import { createGuardedAgents } from '../outbound/guarded-agents.ts'
import { createNameServers, type Resolve } from '../outbound/resolve.ts'
import { parseRetryAfter } from '../runtime/retry-after.ts'
import { checkEndpointUrl, type TargetRules } from './endpoint-url.ts'

/** Sends requests to merchants. Nothing else in the service does. */
export type Sender = {
  /** Makes one try and resolves with its outcome, failures included. Rejects only when `signal` aborts. */
  send(request: SendRequest, signal: AbortSignal): Promise<SendResult>
  close(): void
}

export type SendRequest = {
  readonly endpointId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent unchanged, byte for byte. */
  readonly body: Buffer
  /** Milliseconds for the whole try; absent: the default limit. */
  readonly totalMs?: number
}

export type SendResult = {
  /** HTTP status; null without a response. If `error` is set too, the response does not count. */
  readonly status: number | null
  readonly error: SendError | null
  /** The beginning of the body, without secrets, for the delivery log. */
  readonly headers: Readonly<Record<string, string>>
  readonly bodyExcerpt: string
  readonly retryAfterSeconds: number | null
  readonly durationMs: number
  readonly bytesSent: number
}

export type SenderOptions = TargetRules & {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Resolves a host name to all its addresses. Default: the name servers of the system. */
  readonly lookup?: Resolve
  readonly limits?: Partial<SendLimits>
}

export type SendLimits = { readonly totalMs: number; readonly connectMs: number; readonly maxBytes: number }

/** 15 s for the whole try and 16 KiB of response are enough for a receiver that stores the event and responds. */
const LIMITS: SendLimits = { totalMs: 15_000, connectMs: 5_000, maxBytes: 16 * 1024 }

/** Milliseconds: a connection that failed sooner, before a byte was sent, is tried once more at once. */
const QUICK_FAILURE_MS = 1_000

/** Sent with every try, in addition to those of the signature. */
export const OWN_HEADERS = {
  'content-type': 'application/json',
  // Responses are never decompressed: a few kilobytes can expand to gigabytes.
  'accept-encoding': 'identity',
  'user-agent': 'Pinrail-Webhooks/1',
}

export function createSender(options: SenderOptions): Sender {
  const limits = { ...LIMITS, ...options.limits }
  const agents = createGuardedAgents()
  const network = { agents, resolve: options.lookup ?? createNameServers() }

  return {
    async send({ endpointId, url, headers, body, totalMs = limits.totalMs }, signal) {
      const started = options.now()
      const check = checkEndpointUrl(url, options)
      if (!check.ok) return { ...NO_ANSWER, error: 'refused_url' }
      const guard = { endpointId, privateAllowed: check.testTarget }
      const request = { ...limits, totalMs, url: check.url, headers: { ...headers, ...OWN_HEADERS }, body, guard }

      const first = await exchange(request, network, signal)
      const spent = options.now() - started
      const again = isWorthAnotherTry(first, spent)
      const last = again ? await exchange({ ...request, totalMs: totalMs - spent }, network, signal) : first
      return result(last, started, options.now())
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/**
 * Returns true if nothing reached the receiver, or only a connection that it had just closed: then sending again is
 * safe.
 */
function isWorthAnotherTry({ error, bytesSent, staleSocket }: Exchanged, spentMs: number): boolean {
  if (staleSocket) return true
  return (error === 'connect' || error === 'tls') && bytesSent === 0 && spentMs < QUICK_FAILURE_MS
}

const NO_ANSWER: SendResult = {
  status: null,
  error: null,
  headers: {},
  bodyExcerpt: '',
  retryAfterSeconds: null,
  durationMs: 0,
  bytesSent: 0,
}

function result({ response, bytes, error, bytesSent }: Exchanged, started: number, now: number): SendResult {
  const reached = { ...NO_ANSWER, error, durationMs: now - started, bytesSent }
  if (response === null) return reached
  return {
    ...reached,
    status: response.statusCode ?? null,
    headers: loggedHeaders(response.headers),
    bodyExcerpt: bodyExcerpt(bytes, response.headers['content-encoding']),
    retryAfterSeconds: parseRetryAfter(response.headers['retry-after'], now),
  }
}
