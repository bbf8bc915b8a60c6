import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

export type SignedHeaders = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** `whsec_` and base64 of 32 random bytes (Standard Webhooks asks for 24 to 64). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** True if the secret signs at that time (Unix milliseconds): two do while a secret is being rotated. */
export const signsAt = (secret: { readonly expires_at: string | null }, at: number): boolean =>
  secret.expires_at === null || Date.parse(secret.expires_at) > at

/**
 * Returns the headers of Standard Webhooks 1.0, with one signature for each active secret, the newest first: two while
 * a secret is being rotated. The id is the event's, so it is the same on every try. `at` is the time of this try (Unix
 * milliseconds).
 */
export function signedHeaders(message: {
  id: string
  at: number
  body: Buffer
  secrets: readonly string[]
}): SignedHeaders {
  if (message.secrets.length === 0) throw new Error('a webhook needs at least one secret to be signed with')
  const at = new Date(message.at)
  const text = message.body.toString('utf8')
  const signatures = message.secrets.map((secret) => new Webhook(secret).sign(message.id, at, text))
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(message.at / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}
