import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { fromRupees, toRupees } from '../../../src/partners/cashfree/amount.ts'
import { readCallback } from '../../../src/partners/cashfree/callback.ts'
import { type CashfreeOrder, readState } from '../../../src/partners/cashfree/state.ts'
import {
  disputeListSchema,
  errorSchema,
  eventSchema,
  orderSchema,
  paymentListSchema,
  refundListSchema,
  refundSchema,
} from '../../../src/partners/cashfree/wire.ts'
import { createPartners } from '../../../src/partners/index.ts'
import { hmacSha256 } from '../../../src/partners/signature.ts'
import { describeConformance } from '../conformance.ts'
import { describeExamples } from '../examples.ts'
import { type SandboxServer, soon, startSandboxServer } from '../sandbox-server.ts'
import { catchPartnerError, withPartnerThat, withTamperedAnswers } from '../strange-partner.ts'

const start = () => startSandboxServer({ drivers: { local_partner: 'cashfree' } })

describeConformance('Cashfree for UPI', { provider: 'local_partner', driver: 'cashfree' }, start)

describeExamples('cashfree', {
  'order.json': orderSchema,
  'payments.json': paymentListSchema,
  'refund.json': refundSchema,
  'event.json': eventSchema,
  'error.json': errorSchema,
})

describe('Cashfree’s orders', () => {
  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  test.each([
    ['am=4999.00', 'am=1.00'],
    ['cu=INR', 'cu=USD'],
    ['upi://', 'https://'],
    ['pa=cashfree.sandbox@indus', 'pa='],
  ])('a link with %s changed to %s is not shown to a buyer', async (from, to) => {
    await withTamperedAnswers({ server, provider: 'local_partner', from, to }, async (partner) => {
      const trouble = await catchPartnerError(partner.openOrder(server.newOrder('local_partner'), soon()))
      expect(trouble.message).toContain('a UPI link that does not fit')
    })
  })

  test('the event of a lost dispute names the order, which is then reversed', async () => {
    const partner = server.partners().local_partner
    const order = server.newOrder('local_partner')
    await partner.openOrder(order, soon())
    await server.act('local_partner', order.attemptId, { action: 'pay' })
    await server.takeCallbacks('local_partner')
    await server.act('local_partner', order.attemptId, { action: 'reverse' })
    const [callback] = await server.takeCallbacks('local_partner')
    expect(server.readCallback('local_partner', callback!)).toMatchObject({
      kind: 'order',
      subject: { attemptId: order.attemptId },
    })
    const ref = { attemptId: order.attemptId, reference: null }
    expect(await partner.readOrder(ref, soon())).toMatchObject({ status: 'declined', failureCode: 'reversed' })
  })

  test('an order without a phone number is refused as a mistake of the configuration', async () => {
    const all = {
      wallet_app: server.settings('wallet_app'),
      card_partner: server.settings('card_partner'),
      local_partner: server.settings('local_partner', { phone: undefined }),
    }
    const opening = createPartners(all).local_partner.openOrder(server.newOrder('local_partner'), soon())
    expect((await catchPartnerError(opening)).kind).toBe('misconfigured')
  })
})

describe('A refund at Cashfree', () => {
  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  test('a refund is of the money that no dispute has taken', async () => {
    const asked: unknown[] = []
    const order = { cf_order_id: '1', order_id: 'att_1', order_amount: 3, order_currency: 'INR', order_status: 'PAID' }
    const paid = { cf_payment_id: '7', payment_status: 'SUCCESS', payment_amount: 3, payment_currency: 'INR' }
    const lost = { dispute_type: 'CHARGEBACK', dispute_status: 'CHARGEBACK_MERCHANT_LOST', dispute_amount: 1 }
    const answers: Readonly<Record<string, object>> = {
      '/pg/orders/att_1': { ...order, payment_session_id: 'session_1' },
      '/pg/orders/att_1/payments': [paid],
      '/pg/orders/att_1/disputes': [{ ...lost, order_details: { cf_payment_id: '7' } }],
    }
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      if (request.method === 'POST') asked.push(JSON.parse(await text(request)))
      const made = asked.map((wanted) => ({ ...(wanted as object), refund_status: 'SUCCESS' }))
      response.end(JSON.stringify(answers[request.url ?? ''] ?? made))
    }
    await withPartnerThat(
      server,
      (request, response) => void answer(request, response),
      async ({ local_partner: partner }) => {
        const ref = { attemptId: 'att_1', reference: '1' }
        expect(await partner.readOrder(ref, soon())).toMatchObject({ status: 'paid', received: { minor: '200' } })
        expect(await partner.refundOrder?.({ ...ref, key: 'att_1:refund:1', amount: null }, soon())).toEqual({
          kind: 'refunded',
        })
        expect(asked).toEqual([{ refund_id: 'att_1-refund-1', refund_amount: 2 }])
      },
    )
  })
})

describe('Rupees as JSON numbers', () => {
  test.each(['1', '10', '99', '100', '499905', '99999999999999'])(
    '%s paise are sent and read back exactly',
    (minor) => {
      const sent = JSON.parse(JSON.stringify(toRupees({ minor, currency: 'INR' }))) as number
      expect(fromRupees(sent)).toBe(BigInt(minor))
    },
  )

  test.each([1.005, -1, 1e21, Number.NaN, 0.001])('%s is not an amount', (value) => {
    expect(fromRupees(value)).toBeNull()
  })
})

describe('The state of an order at Cashfree', () => {
  const order = (order_status: string) =>
    orderSchema.parse({
      cf_order_id: '2149460581',
      order_id: 'att_1',
      order_amount: 3,
      order_currency: 'INR',
      order_status,
      payment_session_id: 'session_1',
    })
  const payment = (payment_status: string, error: object | null = null) => ({
    cf_payment_id: 4105073870,
    payment_status,
    payment_amount: 3,
    payment_currency: 'INR',
    error_details: error,
  })
  const refund = (refund_id: string, refund_status: string, refund_amount: number) => ({
    refund_id,
    refund_status,
    refund_amount,
  })
  const dispute = (dispute_type: string, state: string, dispute_amount = 3) => ({
    dispute_type,
    dispute_status: `${dispute_type}_${state}`,
    dispute_amount,
    order_details: { order_id: 'att_1', cf_payment_id: '4105073870' },
  })
  const read = (status: string, payments: object[], refunds: object[] = [], disputes: object[] = []) => {
    const found: CashfreeOrder = {
      order: order(status),
      payments: paymentListSchema.parse(payments),
      refunds: refundListSchema.parse(refunds),
      disputes: disputeListSchema.parse(disputes),
    }
    return readState(found, ({ refund_id: id }) => id.startsWith('att_1'))
  }
  const paid = [payment('SUCCESS')]

  test.each<[string, ReturnType<typeof read>, string, bigint | null]>([
    ['an order that waits', read('ACTIVE', []), 'open', null],
    ['a payment that was not attempted', read('ACTIVE', [payment('NOT_ATTEMPTED')]), 'open', null],
    ['a failed payment whose order can still be paid', read('ACTIVE', [payment('FAILED')]), 'open', null],
    ['an order that is being ended', read('TERMINATION_REQUESTED', []), 'open', null],
    ['a pending payment', read('ACTIVE', [payment('PENDING')]), 'confirming', null],
    ['a payment under review', read('ACTIVE', [payment('FLAGGED')]), 'confirming', null],
    ['a paid order whose payment is not listed yet', read('PAID', []), 'confirming', null],
    ['a payment after a failed one', read('PAID', [payment('FAILED'), ...paid]), 'paid', 300n],
    ['an ended order that was paid', read('TERMINATED', paid), 'paid', 300n],
    ['a refund of a part', read('PAID', paid, [refund('x', 'SUCCESS', 1)]), 'paid', 200n],
    ['a pending refund by somebody else', read('PAID', paid, [refund('x', 'ONHOLD', 1)]), 'paid', 200n],
    ['a pending refund of the platform', read('PAID', paid, [refund('att_1-refund', 'PENDING', 3)]), 'paid', 300n],
    ['a failed refund', read('PAID', paid, [refund('x', 'FAILED', 3)]), 'paid', 300n],
    ['a whole refund', read('PAID', paid, [refund('att_1-refund', 'SUCCESS', 3)]), 'refunded', 300n],
    ['an inquiry', read('PAID', paid, [], [dispute('RETRIEVAL', 'CREATED')]), 'paid', 300n],
    ['a lost inquiry', read('PAID', paid, [], [dispute('DISPUTE', 'MERCHANT_LOST')]), 'declined', null],
    ['a chargeback', read('PAID', paid, [], [dispute('CHARGEBACK', 'CREATED')]), 'declined', null],
    ['a chargeback of a part', read('PAID', paid, [], [dispute('CHARGEBACK', 'UNDER_REVIEW', 1)]), 'paid', 200n],
    ['a won chargeback', read('PAID', paid, [], [dispute('CHARGEBACK', 'MERCHANT_WON')]), 'paid', 300n],
    [
      'a lost chargeback that goes to arbitration',
      read('PAID', paid, [], [dispute('CHARGEBACK', 'MERCHANT_LOST'), dispute('PRE_ARBITRATION', 'CREATED')]),
      'declined',
      null,
    ],
    ['an ended order', read('TERMINATED', []), 'canceled', null],
    ['an order whose time is over', read('EXPIRED', []), 'expired', null],
  ])('%s', (_name, reading, status, received) => {
    expect(reading).toMatchObject({ status, received })
  })

  test.each([
    [payment('FAILED', { error_reason: 'bank_rejected', error_source: 'bank' }), 'declined'],
    [payment('FAILED', { error_reason: 'insufficient_funds', error_source: 'customer' }), 'insufficient_funds'],
    [payment('FAILED', { error_reason: 'processing_failure', error_source: 'cashfree' }), 'partner_unavailable'],
    [payment('USER_DROPPED'), 'abandoned'],
    [payment('FAILED', null), 'declined'],
  ])('the failed payment %j is %s', (failed, failureCode) => {
    expect(read('EXPIRED', [failed])).toMatchObject({ status: 'declined', failureCode })
  })
})

describe('Cashfree’s callbacks', () => {
  const read = (data: object, { secrets = ['new', 'old'], signedBy = 'old', type = 'ANY', seconds = 0 } = {}) => {
    const body = JSON.stringify({ data, event_time: '2026-11-28T12:00:00+05:30', type })
    const time = '1795209600123'
    const headers = {
      'x-webhook-timestamp': time,
      'x-webhook-signature': hmacSha256(signedBy, `${time}${body}`, 'base64'),
    }
    const receivedAt = 1_795_209_600 + seconds
    return readCallback({ account: '', webhookSecrets: secrets }, { headers, body: Buffer.from(body), receivedAt })
  }

  test.each<[string, object, unknown]>([
    ['a payment', { order: { order_id: 'att_1' }, payment: { cf_payment_id: '1' } }, { attemptId: 'att_1' }],
    ['a refund', { refund: { refund_id: 'r', order_id: 'att_1' } }, { attemptId: 'att_1' }],
    ['a dispute', { dispute: { dispute_id: 1 }, order_details: { order_id: 'att_1' } }, { attemptId: 'att_1' }],
    ['a settlement', { settlement: { settlement_id: 738 } }, 'foreign'],
  ])('the event of %s names what is read', (_name, data, expected) => {
    const reading = read(data)
    expect(reading.kind === 'order' ? reading.subject : reading.kind).toEqual(expected)
  })

  test('a callback is accepted with the old and the new secret, and within five minutes', () => {
    const data = { order: { order_id: 'att_1' } }
    expect(read(data, { signedBy: 'new' }).kind).toBe('order')
    expect(read(data, { secrets: ['new'] })).toEqual({ kind: 'refused', reason: 'signature' })
    expect(read(data, { seconds: 301 })).toEqual({ kind: 'refused', reason: 'timestamp' })
  })

  test('the timestamp and the body are signed without a separator', () => {
    const body = '{"data":{"order":{"order_id":"att_1"}},"type":"PAYMENT_SUCCESS_WEBHOOK"}'
    const headers = {
      'x-webhook-timestamp': '1795209600123',
      'x-webhook-signature': hmacSha256('old', `1795209600123.${body}`, 'base64'),
    }
    const callback = { headers, body: Buffer.from(body), receivedAt: 1_795_209_600 }
    expect(readCallback({ account: '', webhookSecrets: ['old'] }, callback)).toEqual({
      kind: 'refused',
      reason: 'signature',
    })
  })
})
