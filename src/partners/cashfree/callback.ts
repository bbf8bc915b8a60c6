import type { CallbackReading, RawCallback } from '../../domain/payment/partner.ts'
import type { CallbackSettings } from '../provider.ts'
import { FOREIGN, readCallbackBody, refused } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned, parseMilliseconds, sha256Hex } from '../signature.ts'
import { eventSchema } from './wire.ts'

/**
 * `x-webhook-timestamp: <unix milliseconds>`, `x-webhook-signature: <base64>`; signed: the timestamp and then the raw
 * body (https://www.cashfree.com/docs/api-reference/webhooks/payloads-and-signatures), with the secret of the API. The
 * key of the event is not signed, so the id is the hash of the body.
 */
export function readCallback({ webhookSecrets }: CallbackSettings, callback: RawCallback): CallbackReading {
  const signature = callback.headers['x-webhook-signature'] ?? ''
  if (signature === '') return refused('signature')
  const milliseconds = parseMilliseconds(callback.headers['x-webhook-timestamp'])
  if (milliseconds === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`${milliseconds}`), callback.body])
  if (!isSigned([signature], webhookSecrets, (secret) => hmacSha256(secret, signed, 'base64')))
    return refused('signature')
  if (!isInWindow(Math.floor(milliseconds / 1000), callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  // An event of a settlement or of a saved instrument names no order.
  const { order, refund, order_details: disputed } = event.data
  const attemptId = (order ?? refund ?? disputed)?.order_id
  return attemptId === undefined
    ? FOREIGN
    : { kind: 'order', eventId: sha256Hex(callback.body), subject: { attemptId } }
}
