import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Event } from './api-types.ts'
import { PinrailError } from './errors.ts'

export class WebhookVerificationError extends PinrailError {
  override readonly name = 'WebhookVerificationError'
}

/** Maximum difference between the sender's and the receiver's clocks, in seconds (Standard Webhooks 1.0). */
const TOLERANCE_SECONDS = 300

export type VerifyOptions = {
  /** `whsec_…`; several during a rotation. */
  readonly secret: string | readonly string[]
  /** Unix milliseconds. Default: now. */
  readonly now?: number
}

type Headers =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | string[] | undefined>>

/**
 * Verifies the signature and the time of a webhook and returns its event. `body` must be the bytes as received, because
 * JSON that was parsed and written again differs from the signed bytes. Throws WebhookVerificationError, which names
 * the usual causes.
 */
export function verifyWebhook(body: Uint8Array | string, headers: Headers, options: VerifyOptions): Event {
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const signatures = readHeader(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a whole number.')
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body)])
  const given = signatures.split(' ').filter((signature) => signature.startsWith('v1,'))
  const isGenuine = secrets.some((secret) => {
    const expected = createHmac('sha256', decodeSecret(secret)).update(signed).digest()
    return given.some((signature) => isSame(Buffer.from(signature.slice(3), 'base64'), expected))
  })
  if (!isGenuine)
    throw new WebhookVerificationError(
      'No signature matches. The usual causes: the body was parsed and written again instead of being verified as the bytes that arrived; the secret is of another endpoint or mode; a proxy changed the body.',
    )
  const apart = Math.abs((options.now ?? Date.now()) / 1000 - Number(timestamp))
  if (apart > TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      `The signature matches, but its time is ${Math.round(apart)} s from this machine’s: an old request that was sent again, or a clock that is wrong.`,
    )
  return JSON.parse(Buffer.from(body).toString('utf8')) as Event
}

function decodeSecret(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  if (key.length < 24) throw new WebhookVerificationError('The secret is whsec_ and base64 of at least 24 bytes.')
  return key
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

function readHeader(headers: Headers, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookVerificationError(
    `The header ${name} is missing: this is not a webhook from Pinrail, or a proxy removed the header.`,
  )
}

function isHeaders(headers: Headers): headers is { readonly get: (name: string) => string | null } {
  return typeof headers['get'] === 'function'
}
