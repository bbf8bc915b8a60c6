import type { WebhookEventType } from '../webhook.ts'
import { getInvoiceState, PAYMENT_METHOD, type PaymentState } from './invoice.ts'
import { renderInvoiceMetadata } from './metadata.ts'

/** Events in the form of BTCPay's webhooks. */

/** One event of a payment is one event of an invoice, so that what an endpoint subscribes to is exact. */
export const INVOICE_EVENTS = {
  'payment.created': 'InvoiceCreated',
  'payment.processing': 'InvoiceProcessing',
  'payment.under_review': 'InvoiceReceivedPayment',
  'payment.succeeded': 'InvoiceSettled',
  'payment.expired': 'InvoiceExpired',
  'payment.failed': 'InvoiceInvalid',
  'payment.canceled': 'InvoiceInvalid',
  'payment.refunded': 'InvoiceInvalid',
} as const satisfies Partial<Record<WebhookEventType, string>>

type MappedType = keyof typeof INVOICE_EVENTS
export type InvoiceEvent = (typeof INVOICE_EVENTS)[MappedType]

export const MAPPED_TYPES = Object.keys(INVOICE_EVENTS) as MappedType[]

export const isMapped = (type: string): type is MappedType => Object.hasOwn(INVOICE_EVENTS, type)

/** Returns the types of events that become one of these events of invoices. Other names become none. */
export function listSubscribedTypes(events: readonly string[]): MappedType[] {
  return MAPPED_TYPES.filter((type) => events.includes(INVOICE_EVENTS[type]))
}

export function listInvoiceEvents(types: readonly string[]): InvoiceEvent[] {
  return [...new Set(types.filter(isMapped).map((type) => INVOICE_EVENTS[type]))]
}

type EventObject = PaymentState & {
  readonly id: string
  readonly reference: string | null
  readonly description: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly expires_at: string
  /** When its money arrived; null: it has none. */
  readonly paid_at: string | null
  readonly amount_decimal: string
}

/** An event as its endpoint's account has it. */
export type StoredEvent = {
  readonly id: string
  readonly type: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly data: { readonly object: object }
}

type Sent = { readonly event: StoredEvent; readonly endpointId: string; readonly merchantId: string }

/**
 * The same at every try. A redelivery is one too: it has the id of the delivery, which is the id of the event. A type
 * without a counterpart, such as that of a test event, is announced as BTCPay announces its tests.
 */
export function renderInvoiceEvent({ event, endpointId, merchantId }: Sent): object {
  const { id, type, timestamp } = event
  const head = {
    deliveryId: id,
    webhookId: endpointId,
    originalDeliveryId: id,
    isRedelivery: false,
    type: isMapped(type) ? INVOICE_EVENTS[type] : 'InvoiceCreated',
    timestamp: toSeconds(timestamp),
    storeId: merchantId,
  }
  if (!isMapped(type)) return { ...head, invoiceId: `__test__${id}__test__`, metadata: {} }
  const payment = event.data.object as EventObject
  const facts = renderFacts(type, payment, timestamp)
  return { ...head, invoiceId: payment.id, metadata: renderInvoiceMetadata(payment), ...facts }
}

function renderFacts(type: MappedType, payment: EventObject, timestamp: string): object {
  const { additionalStatus } = getInvoiceState(payment)
  const overPaid = additionalStatus === 'PaidOver'
  switch (INVOICE_EVENTS[type]) {
    case 'InvoiceReceivedPayment':
      return {
        // A review can begin long after the money arrived.
        afterExpiration: toSeconds(payment.paid_at ?? timestamp) >= toSeconds(payment.expires_at),
        paymentMethodId: PAYMENT_METHOD,
      }
    case 'InvoiceProcessing':
      return { overPaid }
    case 'InvoiceSettled':
      return { overPaid, manuallyMarked: false }
    case 'InvoiceExpired':
      return { partiallyPaid: additionalStatus === 'PaidPartial' }
    case 'InvoiceInvalid':
      return { manuallyMarked: additionalStatus === 'Marked' }
    case 'InvoiceCreated':
      return {}
  }
}

/** Unix seconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
export const toSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000)
