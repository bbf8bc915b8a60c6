import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { listInvoiceEvents, listSubscribedTypes, MAPPED_TYPES } from '../../../src/domain/btcpay/events.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhook.ts'
import { renderRequest } from '../../../src/webhooks/formats.ts'
import { newWebhookSecret } from '../../../src/webhooks/sign.ts'

const AT = '2026-11-20T21:00:00.000Z'

const PAYMENT = {
  id: 'pay_1',
  status: 'succeeded',
  exception: null as string | null,
  reference: 'order-1',
  description: null,
  metadata: { posData: '{}' },
  amount_decimal: '49.99',
  expires_at: '2026-11-21T21:00:00.000Z',
  paid_at: null as string | null,
}

function render(
  type: string,
  payment: Partial<typeof PAYMENT> = {},
  secrets: readonly string[] = ['a secret of a shop'],
) {
  const object = { ...PAYMENT, ...payment }
  const body = Buffer.from(JSON.stringify({ id: 'evt_1', type, timestamp: AT, data: { object } }))
  const { headers, body: sent } = renderRequest({
    format: 'btcpay',
    eventId: 'evt_1',
    endpointId: 'we_1',
    merchantId: 'mer_1',
    body,
    at: 0,
    secrets,
  })
  return { headers, sent, event: JSON.parse(sent.toString()) as Record<string, unknown> }
}

describe('A webhook in the format of BTCPay', () => {
  test('it is signed with the newest secret as text, over the bytes that are sent', () => {
    const { headers, sent } = render('payment.succeeded', {}, ['new secret', 'old secret'])
    const signature = createHmac('sha256', 'new secret').update(sent).digest('hex')
    expect(headers).toEqual({ 'BTCPay-Sig': `sha256=${signature}` })
  })

  test('it names the store, the invoice and its metadata, and is the same at each try', () => {
    expect(render('payment.created', { status: 'created' }).event).toEqual({
      deliveryId: 'evt_1',
      webhookId: 'we_1',
      originalDeliveryId: 'evt_1',
      isRedelivery: false,
      type: 'InvoiceCreated',
      timestamp: 1795208400,
      storeId: 'mer_1',
      invoiceId: 'pay_1',
      metadata: { posData: '{}', orderId: 'order-1' },
    })
  })

  const EVENTS: [string, Partial<typeof PAYMENT>, object][] = [
    ['payment.processing', { status: 'processing' }, { type: 'InvoiceProcessing', overPaid: false }],
    [
      'payment.processing',
      { status: 'processing', exception: 'overpaid' },
      { type: 'InvoiceProcessing', overPaid: true },
    ],
    [
      'payment.under_review',
      { status: 'under_review' },
      { type: 'InvoiceReceivedPayment', afterExpiration: false, paymentMethodId: 'USDC' },
    ],
    [
      'payment.under_review',
      { status: 'under_review', expires_at: '2026-11-20T20:00:00.000Z' },
      { type: 'InvoiceReceivedPayment', afterExpiration: true },
    ],
    [
      'payment.under_review',
      { status: 'under_review', expires_at: '2026-11-20T20:00:00.000Z', paid_at: '2026-11-20T19:59:59.000Z' },
      { type: 'InvoiceReceivedPayment', afterExpiration: false },
    ],
    ['payment.succeeded', {}, { type: 'InvoiceSettled', overPaid: false, manuallyMarked: false }],
    ['payment.succeeded', { exception: 'overpaid' }, { type: 'InvoiceSettled', overPaid: true }],
    ['payment.expired', { status: 'expired' }, { type: 'InvoiceExpired', partiallyPaid: false }],
    ['payment.expired', { status: 'expired', exception: 'underpaid' }, { type: 'InvoiceExpired', partiallyPaid: true }],
    ['payment.failed', { status: 'failed' }, { type: 'InvoiceInvalid', manuallyMarked: false }],
    ['payment.canceled', { status: 'canceled' }, { type: 'InvoiceInvalid', manuallyMarked: true }],
    ['payment.refunded', { status: 'refunded' }, { type: 'InvoiceInvalid', manuallyMarked: false }],
  ]
  test.each(EVENTS)('%s of %j is %j', (type, payment, expected) => {
    expect(render(type, payment).event).toMatchObject(expected)
  })

  test('only a payment that has succeeded is announced as settled', () => {
    const settled = WEBHOOK_EVENT_TYPES.filter((type) => render(type).event['type'] === 'InvoiceSettled')
    expect(settled).toEqual(['payment.succeeded'])
  })

  test('a test event looks like the tests of BTCPay, and names no payment', () => {
    expect(render('webhook.test').event).toMatchObject({ type: 'InvoiceCreated', invoiceId: '__test__evt_1__test__' })
  })

  test('a subscription to events of invoices is one to the events that become them', () => {
    const woo = ['InvoiceReceivedPayment', 'InvoicePaymentSettled', 'InvoiceProcessing', 'InvoiceExpired']
    const types = listSubscribedTypes([...woo, 'InvoiceSettled', 'InvoiceInvalid', 'SomethingNew'])
    expect(types).toEqual(MAPPED_TYPES.filter((type) => type !== 'payment.created'))
    expect(listInvoiceEvents(types)).toEqual([
      'InvoiceProcessing',
      'InvoiceReceivedPayment',
      'InvoiceSettled',
      'InvoiceExpired',
      'InvoiceInvalid',
    ])
    expect(listSubscribedTypes(['InvoicePaymentSettled'])).toEqual([])
  })

  test('the other format stays as it is', () => {
    const body = Buffer.from('{}')
    const message = { eventId: 'evt_1', endpointId: 'we_1', merchantId: 'mer_1', body, at: 0 }
    const { headers, body: sent } = renderRequest({ ...message, format: 'standard', secrets: [newWebhookSecret()] })
    expect([Object.keys(headers), sent]).toEqual([['webhook-id', 'webhook-timestamp', 'webhook-signature'], body])
  })
})
