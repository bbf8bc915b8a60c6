import type { CallbackReading, RawCallback } from '../../domain/payment/partner.ts'
import type { CallbackSettings } from '../provider.ts'
import { ABOUT_DISPUTE, FOREIGN, readCallbackBody, refused } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned, parseMilliseconds, sha256Hex } from '../signature.ts'
import { eventSchema } from './wire.ts'

/**
 * `Revolut-Request-Timestamp: <unix milliseconds>`, `Revolut-Signature: v1=<hex>[,v1=<hex>]`; signed: `v1.<ms>.<raw
 * body>` (https://developer.revolut.com/docs/guides/merchant/monitor-and-observe/webhooks/verify-the-payload-signature).
 */
export function readCallback({ webhookSecrets }: CallbackSettings, callback: RawCallback): CallbackReading {
  const time = callback.headers['revolut-request-timestamp']
  const parts = (callback.headers['revolut-signature'] ?? '').split(',').map((part) => part.trim())
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (signatures.length === 0) return refused('signature')
  const milliseconds = parseMilliseconds(time)
  if (milliseconds === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`v1.${milliseconds}.`), callback.body])
  if (!isSigned(signatures, webhookSecrets, (secret) => hmacSha256(secret, signed, 'hex'))) return refused('signature')
  if (!isInWindow(Math.floor(milliseconds / 1000), callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (event.dispute_id !== undefined) return ABOUT_DISPUTE
  // An event of a payout or a subscription names no order.
  const [attemptId] = event.merchant_order_ext_ref?.split(':', 1) ?? []
  if (attemptId === undefined) return FOREIGN
  // Two tries of one buyer have equal bodies, and events have no id.
  return { kind: 'order', eventId: `${milliseconds}:${sha256Hex(callback.body)}`, subject: { attemptId } }
}
