import type { Event } from './api-types.ts'
import { PinrailError } from './errors.ts'

export class WebhookVerificationError extends PinrailError {
  override readonly name = 'WebhookVerificationError'
}

/** Maximum difference between the sender's and the receiver's clocks, in seconds (Standard Webhooks 1.0). */
const TOLERANCE_SECONDS = 300
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

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
 * Verifies the signature and the time of a webhook and resolves to its event. `body` must be the bytes as received,
 * because JSON that was parsed and written again differs from the signed bytes. Rejects with WebhookVerificationError,
 * which names the usual causes.
 */
export async function verifyWebhook(
  body: Uint8Array | string,
  headers: Headers,
  options: VerifyOptions,
): Promise<Event> {
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const signatures = readHeader(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a whole number.')
  const signed = joinSigned(id, timestamp, body)
  if (!(await isGenuine(signed, signatures, options.secret)))
    throw new WebhookVerificationError(
      'No signature matches. The usual causes: the body was parsed and written again instead of being verified as the bytes that arrived; the secret is of another endpoint or mode; a proxy changed the body.',
    )
  const apart = Math.abs((options.now ?? Date.now()) / 1000 - Number(timestamp))
  if (apart > TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      `The signature matches, but its time is ${Math.round(apart)} s from this machine’s: an old request that was sent again, or a clock that is wrong.`,
    )
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Event
}

/** The event of one type, as the handler of that type gets it. */
export type EventOf<T extends Event['type']> = Event extends infer E
  ? E extends { type: infer K }
    ? T extends K
      ? E
      : never
    : never
  : never

export type HandlerOptions = VerifyOptions & {
  /** The function for each type of event. Types without an entry are received and ignored, as are those of the future. */
  readonly on: { readonly [T in Event['type']]?: (event: EventOf<T>) => unknown }
}

/**
 * Returns a function from Request to Response, as Next.js, Hono, Workers, Deno and Bun take it. It answers 204 when the
 * entry in `on` has ended, and 400 to a request that is not a genuine webhook. An error of the entry is thrown: the
 * server answers 500, and the webhook is sent again later. An event can come twice, so an entry must bear that.
 */
export function createWebhookHandler({ on, ...options }: HandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') return new Response('Send webhooks by POST.', { status: 405 })
    const body = new Uint8Array(await request.arrayBuffer())
    let event: Event
    try {
      event = await verifyWebhook(body, request.headers, options)
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return new Response(error.message, { status: 400 })
    }
    const handle = on[event.type] as ((event: Event) => unknown) | undefined
    await handle?.(event)
    return new Response(null, { status: 204 })
  }
}

export type SignOptions = {
  /** `whsec_…`, as the receiver has it. */
  readonly secret: string
  /** Unix milliseconds. Default: now. */
  readonly now?: number
}

/** Signs an event as Pinrail does, so that a test can send a genuine webhook to a receiver. */
export async function signWebhook(
  event: Event,
  { secret, now = Date.now() }: SignOptions,
): Promise<{ body: string; headers: Record<string, string> }> {
  const body = JSON.stringify(event)
  const timestamp = String(Math.floor(now / 1000))
  const key = await importSecret(secret, 'sign')
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, joinSigned(event.id, timestamp, body)))
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${btoa(String.fromCharCode(...signature))}`,
    },
  }
}

function joinSigned(id: string, timestamp: string, body: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = new Uint8Array(head.length + bytes.length)
  signed.set(head)
  signed.set(bytes, head.length)
  return signed
}

async function isGenuine(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secret: string | readonly string[],
): Promise<boolean> {
  const given = signatures.split(' ').flatMap((text) => (text.startsWith('v1,') ? [decodeBase64(text.slice(3))] : []))
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await importSecret(one, 'verify')
    for (const signature of given)
      if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true
  }
  return false
}

async function importSecret(secret: string, usage: 'sign' | 'verify'): Promise<CryptoKey> {
  const key = decodeBase64(secret.replace(/^whsec_/, ''))
  if (key === null || key.length < 24)
    throw new WebhookVerificationError('The secret is whsec_ and base64 of at least 24 bytes.')
  return crypto.subtle.importKey('raw', key, HMAC, false, [usage])
}

/** Returns null if the text is no base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
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
