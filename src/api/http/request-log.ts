import type { RequestHandler, Response } from 'express'
import type { Tenant } from '../../db/db.ts'
import type { ApiRequest } from '../../db/merchants/requests.ts'

/**
 * Notes every request that came with an account's key, for the people of the account, once its answer was sent. What was
 * sent and answered is kept of requests that change something, and of errors; of what was only read, nothing.
 */

export type RequestLogDeps = {
  readonly onRequest: (request: ApiRequest) => void
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** Whose key it is; null for a person of the account. */
type Keyed = Tenant & { readonly keyId: string | null }

/** Longest text of a body, and of a path, that is kept. */
const MOST_BODY = 4096
const MOST_PATH = 500
/** Characters of bodies of one account that are kept within a minute, in one process. Beyond it only the line is noted. */
const MOST_BODIES_A_MINUTE = 500_000
/** Requests of one account that are noted within a second: nearly all that come beyond are refused by its limit. */
const MOST_A_SECOND = 300

/** Whose key came with the request, as soon as that is proved; it may still be refused. */
export function noteCaller(response: Response, caller: Keyed): void {
  response.locals['keyOf'] = caller
}

/** What is answered, as text. */
export function noteAnswer(response: Response, text: string, code: string | null = null): void {
  response.locals['answered'] = text
  response.locals['code'] = code
}

export function requestLog({ onRequest, clock }: RequestLogDeps): RequestHandler {
  const mayNote = atMost(MOST_A_SECOND, 1000, clock)
  const mayKeep = atMost(MOST_BODIES_A_MINUTE, 60_000, clock)
  return (request, response, next) => {
    const began = clock()
    response.once('finish', () => {
      const { requestId, keyOf, answered, code } = response.locals as Noted
      const account = `${keyOf?.merchantId} ${keyOf?.livemode}`
      if (keyOf === undefined || keyOf.keyId === null || !mayNote(account)) return
      const { method, originalUrl } = request
      const { statusCode: status } = response
      const isWhole = !['GET', 'HEAD'].includes(method) || status >= 400
      const body: unknown = request.body
      const bodies = {
        sent: body === undefined || !isWhole ? null : kept(body),
        answered: answered === undefined || !isWhole ? null : kept(parsed(answered)),
      }
      const isKept = mayKeep(account, (bodies.sent?.length ?? 0) + (bodies.answered?.length ?? 0))
      onRequest({
        id: requestId,
        merchantId: keyOf.merchantId,
        livemode: keyOf.livemode,
        keyId: keyOf.keyId,
        method,
        path: shortened(withoutSecrets(originalUrl), MOST_PATH),
        status,
        durationMs: Math.max(0, Math.round(clock() - began)),
        code: code ?? null,
        ...(isKept ? bodies : { sent: null, answered: null }),
        at: new Date(began).toISOString(),
      })
    })
    next()
  }
}

type Noted = {
  readonly requestId: string
  readonly keyOf?: Keyed
  readonly answered?: string
  readonly code?: string | null
}

/** Counts in windows of so many milliseconds. True if this one is within the number, too. */
function atMost(most: number, windowMs: number, clock: () => number): (of: string, cost?: number) => boolean {
  let window = 0
  const counts = new Map<string, number>()
  return (of, cost = 1) => {
    const now = Math.floor(clock() / windowMs)
    if (now !== window) counts.clear()
    window = now
    const count = (counts.get(of) ?? 0) + cost
    counts.set(of, count)
    return count <= most
  }
}

const HIDDEN = '(hidden)'
/** Names of what must not be read again by whoever may look at the log. */
const SECRET_NAMES = new Set(['key', 'secret', 'password', 'signature', 'authorization', 'checkout_url', 'webhook_url'])
/** Our own secrets, wherever they are written: keys of programs and of webhooks. */
const SECRETS = /(?:pinrail_(?:live|test)_|whsec_)[^\s"'&]+/g

export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, HIDDEN)
}

/** Nobody catches what is thrown after an answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The body as it is kept: without secrets, also where they are of a wrong type, and not longer than is kept. */
export function kept(body: unknown): string {
  const text = JSON.stringify(body, (name, value: unknown) =>
    SECRET_NAMES.has(name) && value !== null ? HIDDEN : value,
  )
  return shortened(withoutSecrets(text), MOST_BODY)
}

/** Postgres takes no half of a character: a row that it refuses would keep the others of its batch from it. */
function shortened(text: string, most: number): string {
  const short = text.length <= most ? text : `${text.slice(0, most)}…`
  return short.toWellFormed()
}
