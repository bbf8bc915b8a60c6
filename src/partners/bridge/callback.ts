import { createHash, type KeyObject, verify } from 'node:crypto'
import type { RawCallback } from '../../domain/payment/partner.ts'
import type { RefillCallback } from '../../domain/settlement/refill.ts'
import { readCallbackBody } from '../reading.ts'
import { parseMilliseconds } from '../signature.ts'
import { eventSchema } from './wire.ts'

/** Bridge signs each repetition again, and advises to refuse what is older. */
const WINDOW_MS = 10 * 60_000

/**
 * `X-Webhook-Signature: t=<unix milliseconds>,v0=<base64>`: RSA (PKCS #1 1.5) with SHA-256 over the SHA-256 of
 * `<t>.<raw body>`, so hashed twice (https://apidocs.bridge.xyz/docs/webhook-event-signature-verification). `keys`: the
 * public keys of the endpoint; while one replaces another, both verify.
 */
export function readBridgeCallback(
  keys: readonly KeyObject[],
  { headers, body, receivedAt }: RawCallback,
): RefillCallback {
  const parts = (headers['x-webhook-signature'] ?? '').split(',').map((part) => part.trim())
  const [times, signatures] = ['t=', 'v0='].map((start) =>
    parts.filter((part) => part.startsWith(start)).map((part) => part.slice(start.length)),
  ) as [string[], string[]]
  const time = times.length === 1 ? parseMilliseconds(times[0]) : null
  if (time === null || signatures.length !== 1) return { kind: 'refused', reason: 'signature' }
  const digest = createHash('sha256').update(`${time}.`).update(body).digest()
  const signature = Buffer.from(signatures[0] ?? '', 'base64')
  if (!keys.some((key) => verify('sha256', digest, key, signature))) return { kind: 'refused', reason: 'signature' }
  if (Math.abs(receivedAt * 1000 - time) > WINDOW_MS) return { kind: 'refused', reason: 'timestamp' }
  const event = readCallbackBody(eventSchema, body)
  if (event === null) return { kind: 'refused', reason: 'format' }
  if (event.event_category !== 'transfer') return { kind: 'foreign' }
  return {
    kind: 'transfer',
    reference: event.event_object_id,
    refillId: event.event_object?.client_reference_id ?? null,
  }
}
