import { createHmac } from 'node:crypto'
import { renderInvoiceEvent, type StoredEvent } from '../domain/btcpay/events.ts'
import type { WebhookFormat } from '../domain/webhook.ts'
import { signedHeaders } from './sign.ts'

export type DeliveryMessage = {
  readonly format: WebhookFormat
  readonly eventId: string
  readonly endpointId: string
  readonly merchantId: string
  /** The stored bytes of the event. */
  readonly body: Buffer
  /** Unix milliseconds. */
  readonly at: number
  /** Active ones, the newest first. */
  readonly secrets: readonly string[]
}

export type DeliveryRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }

/** Returns what is sent. The body depends on the event and the endpoint alone, so each try has the same bytes. */
export function renderRequest(message: DeliveryMessage): DeliveryRequest {
  const { format, eventId, body, at, secrets } = message
  if (format === 'standard') return { headers: { ...signedHeaders({ id: eventId, at, body, secrets }) }, body }
  const [newest] = secrets
  if (newest === undefined) throw new Error('a webhook needs a secret to be signed with')
  const event = JSON.parse(body.toString('utf8')) as StoredEvent
  const own = Buffer.from(JSON.stringify(renderInvoiceEvent({ ...message, event })))
  return { headers: { 'BTCPay-Sig': signBtcpay(own, newest) }, body: own }
}

/** The header of BTCPay has one signature, so during a rotation the new secret signs. The secret is a text, not base64. */
const signBtcpay = (body: Buffer, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
