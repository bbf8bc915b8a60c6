import type { RequestHandler, Response } from 'express'
import type { Tenant } from '../../db/db.ts'
import type { ApiRequest } from '../../db/merchants/requests.ts'
import { hideAddresses } from '../../domain/account/email.ts'
import { NOT_STORED } from '../../domain/btcpay/metadata.ts'
import { EVIDENCE_TEXTS } from '../../domain/dispute/evidence.ts'
import { createCounter } from '../limits/counter.ts'

/**
 * Logs every request with an account's key for the people of the account, after its response was sent. Bodies are
 * stored for requests that change something and for errors, not for successful reads.
 */

export type RequestLogDeps = {
  readonly onRequest: (request: ApiRequest) => void
  /** Unix milliseconds. */
  readonly clock: () => number
}

type Keyed = Tenant & { readonly keyId: string | null }

const MOST_BODY = 4096
const MOST_PATH = 500
/** Characters of one account, by process. Beyond that only the line is logged, without bodies. */
const MOST_BODIES_A_MINUTE = 500_000
/** Requests of one account that are logged within a second: its limit refuses nearly all beyond that. */
const MOST_A_SECOND = 300

/** Called once the key is proved. The request may still be refused. */
export function noteCaller(response: Response, caller: Keyed): void {
  response.locals['keyUser'] = caller
}

export function noteAnswer(response: Response, text: string, code: string | null = null): void {
  response.locals['answered'] = text
  response.locals['code'] = code
}

export function requestLog({ onRequest, clock }: RequestLogDeps): RequestHandler {
  const lines = createCounter({ points: MOST_A_SECOND, windowSeconds: 1, clock })
  const characters = createCounter({ points: MOST_BODIES_A_MINUTE, windowSeconds: 60, clock })
  return (request, response, next) => {
    const began = clock()
    response.once('finish', () => {
      const { requestId, keyUser, answered, code } = response.locals as Noted
      const account = `${keyUser?.merchantId} ${keyUser?.livemode}`
      if (keyUser === undefined || keyUser.keyId === null || !lines.take(account).taken) return
      const { method, originalUrl } = request
      const { statusCode: status } = response
      const isSuccessfulRead = ['GET', 'HEAD'].includes(method) && status < 400
      const bodies = isSuccessfulRead ? NO_BODIES : redactBodies(request.body, answered)
      const size = (bodies.sent?.length ?? 0) + (bodies.answered?.length ?? 0)
      onRequest({
        id: requestId,
        merchantId: keyUser.merchantId,
        livemode: keyUser.livemode,
        keyId: keyUser.keyId,
        method,
        path: shorten(hideAddresses(withoutSecrets(originalUrl)), MOST_PATH),
        status,
        durationMs: Math.max(0, Math.round(clock() - began)),
        code: code ?? null,
        ...(characters.take(account, size).taken ? bodies : NO_BODIES),
        at: new Date(began).toISOString(),
      })
    })
    next()
  }
}

type Noted = {
  readonly requestId: string
  readonly keyUser?: Keyed
  readonly answered?: string
  readonly code?: string | null
}

type Bodies = Pick<ApiRequest, 'sent' | 'answered'>

const NO_BODIES: Bodies = { sent: null, answered: null }

const redactBodies = (sent: unknown, answered: string | undefined): Bodies => ({
  sent: sent === undefined ? null : redactBody(sent),
  answered: answered === undefined ? null : redactBody(parseOrText(answered)),
})

const HIDDEN = '(hidden)'
const SECRET_NAMES = new Set([
  'key',
  'secret',
  'password',
  'signature',
  'authorization',
  'checkout_url',
  'webhook_url',
  'apiKey',
  'checkoutLink',
])
/** Personal data of buyers and of people of the account. A search in the arguments of a tool can be for an address. Evidence can be about anything. */
const PERSONAL_NAMES = new Set([
  'customer_email',
  'email',
  'customer_tax_id',
  'search',
  'files',
  'buyerEmail',
  ...Object.keys(EVIDENCE_TEXTS),
  ...NOT_STORED,
])
const SECRETS = /(?:pinrail_(?:live|test)_|whsec_)[^\s"'&]+/g

export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, HIDDEN)
}

/** Must not throw: nothing catches an error after the response. */
function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Secrets are removed even if they have a wrong type. */
export function redactBody(body: unknown): string {
  const text = JSON.stringify(body, (name, value: unknown) =>
    (SECRET_NAMES.has(name) || PERSONAL_NAMES.has(name)) && value !== null ? HIDDEN : value,
  )
  return shorten(withoutSecrets(text), MOST_BODY)
}

/** Postgres rejects half a surrogate pair: one such row would keep the rest of its batch from being stored. */
function shorten(text: string, most: number): string {
  const short = text.length <= most ? text : `${text.slice(0, most)}…`
  return short.toWellFormed()
}
