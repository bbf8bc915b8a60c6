import type { CallbackReading, CallbackSubject, RawCallback } from '../../domain/payment/partner.ts'
import type { CallbackSettings } from '../provider.ts'
import { FOREIGN, readCallbackBody, refused } from '../reading.ts'
import { hmacSha256, isInWindow, isSigned, parseTimestamp } from '../signature.ts'
import { ATTEMPT, eventSchema } from './wire.ts'

/**
 * `Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>][,v0=…]`; signed: `<t>.<raw body>`
 * (https://docs.stripe.com/webhooks#verify-manually). An account's events come to every endpoint of it, also those
 * about other business.
 */
export function readCallback({ webhookSecrets }: CallbackSettings, callback: RawCallback): CallbackReading {
  const parts = (callback.headers['stripe-signature'] ?? '').split(',').map((part) => part.trim())
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (signatures.length === 0) return refused('signature')
  const timestamp = times.length === 1 ? parseTimestamp(times[0]) : null
  if (timestamp === null) return refused('timestamp')
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), callback.body])
  if (!isSigned(signatures, webhookSecrets, (secret) => hmacSha256(secret, signed, 'hex'))) return refused('signature')
  if (!isInWindow(timestamp, callback.receivedAt)) return refused('timestamp')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  const subject = findSubject(event.data.object)
  return subject === null ? FOREIGN : { kind: 'order', eventId: event.id, subject }
}

type Named = {
  readonly client_reference_id?: string | null | undefined
  readonly metadata?: { readonly [ATTEMPT]: string } | null | undefined
  readonly payment_intent?: string | null | undefined
  readonly charge?: string | null | undefined
}

/** A session and its payment name the attempt. Refunds, disputes and reviews name only the payment. */
function findSubject(object: Named): CallbackSubject | null {
  const attemptId = object.client_reference_id ?? object.metadata?.[ATTEMPT]
  if (attemptId !== undefined && attemptId !== null) return { attemptId }
  const payment = object.payment_intent ?? object.charge
  return payment === undefined || payment === null ? null : { payment }
}
