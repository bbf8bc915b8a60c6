import type { CallbackReading, CallbackSubject, RawCallback } from '../../domain/payment/partner.ts'
import type { CallbackSettings } from '../provider.ts'
import { ABOUT_DISPUTE, FOREIGN, readCallbackBody, refused } from '../reading.ts'
import { hmacSha256, isSigned, sha256Hex } from '../signature.ts'
import { ATTEMPT, eventSchema } from './wire.ts'

/**
 * `X-Razorpay-Signature: <hex>`, over the raw body alone (https://razorpay.com/docs/webhooks/validate-test). No time is
 * signed, and the header with the event's id is not, so the id is the hash of the body. A repeated callback only makes
 * the order be read again.
 */
export function readCallback({ webhookSecrets }: CallbackSettings, callback: RawCallback): CallbackReading {
  const signature = callback.headers['x-razorpay-signature']
  if (signature === undefined || signature === '') return refused('signature')
  if (!isSigned([signature], webhookSecrets, (secret) => hmacSha256(secret, callback.body, 'hex')))
    return refused('signature')
  const event = readCallbackBody(eventSchema, callback.body)
  if (event === null) return refused('format')
  if (event.payload.dispute !== undefined) return ABOUT_DISPUTE
  const subject = findSubject(event.payload)
  return subject === null ? FOREIGN : { kind: 'order', eventId: sha256Hex(callback.body), subject }
}

type Named = ReturnType<(typeof eventSchema)['parse']>['payload']

/** A QR code and its payments have the notes. A refund names the payment. */
function findSubject({ qr_code: qr, payment, refund }: Named): CallbackSubject | null {
  const attemptId = qr?.entity.notes[ATTEMPT] ?? payment?.entity.notes?.[ATTEMPT]
  if (typeof attemptId === 'string' && attemptId !== '') return { attemptId }
  const paymentId = payment?.entity.id ?? refund?.entity.payment_id
  return paymentId === undefined ? null : { payment: paymentId }
}
