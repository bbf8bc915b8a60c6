import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readCallback } from '../../../src/partners/razorpay/callback.ts'
import { readState } from '../../../src/partners/razorpay/state.ts'
import {
  disputeListSchema,
  errorSchema,
  type Payment,
  paymentListSchema,
  qrSchema,
  refundSchema,
} from '../../../src/partners/razorpay/wire.ts'
import { hmacSha256 } from '../../../src/partners/signature.ts'
import { describeConformance } from '../conformance.ts'
import { describeExamples } from '../examples.ts'
import { type SandboxServer, soon, startSandboxServer } from '../sandbox-server.ts'
import { catchPartnerError, withPartnerThat, withTamperedAnswers } from '../strange-partner.ts'

const start = () => startSandboxServer({ drivers: { local_partner: 'razorpay' } })

describeConformance('Razorpay for UPI', { provider: 'local_partner', driver: 'razorpay' }, start)

describeExamples('razorpay', {
  'qr-code.json': qrSchema,
  'payments.json': paymentListSchema,
  'refund.json': refundSchema,
  'disputes.json': disputeListSchema,
  'error.json': errorSchema,
})

describe('Razorpay’s UPI link', () => {
  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  test.each([
    ['499900', 'am=4999'],
    ['499950', 'am=4999.5'],
    ['499905', 'am=4999.05'],
    ['500000', 'am=5000'],
  ])('the amount %s fits the link with %s, which has no trailing zeros', async (minor, written) => {
    const order = server.newOrder('local_partner', { amount: { minor, currency: 'INR' } })
    const opened = await server.partners().local_partner.openOrder(order, soon())
    expect(opened.kind === 'opened' && opened.intentUri).toMatch(new RegExp(`[?&]${written}(?:&|$)`))
  })

  test.each([
    ['am=4999', 'am=1'],
    ['cu=INR', 'cu=USD'],
    ['upi://', 'https://'],
    ['pa=sandbox.rzp@icici', 'pa='],
  ])('a link with %s changed to %s is not shown to a buyer', async (from, to) => {
    await withTamperedAnswers({ server, provider: 'local_partner', from, to }, async (partner) => {
      const trouble = await catchPartnerError(partner.openOrder(server.newOrder('local_partner'), soon()))
      expect(trouble.message).toContain('a UPI link that does not fit')
    })
  })
})

describe('A refund at Razorpay', () => {
  const KEY = 'att_1:refund:1'
  const payment = { id: 'pay_1', status: 'captured', amount: 300, amount_refunded: 0, currency: 'INR' }
  // The newest first. Razorpay itself gave back what arrived after the code was paid.
  const second = { ...payment, id: 'pay_2', status: 'refunded', amount_refunded: 300 }
  const own = { id: 'rfnd_2', amount: 300, status: 'processed', receipt: null }
  const dispute = { id: 'disp_1', payment_id: 'pay_1', amount_deducted: 100, created_at: 0 }
  const list = (...items: object[]) => ({ entity: 'collection', count: items.length, items })

  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  test.each([
    ['won', 300],
    ['lost', 200],
  ])(
    'a refund is of the payment that still has money, without what a dispute has taken that is %s',
    async (status, amount) => {
      const asked: unknown[] = []
      const answers: Readonly<Record<string, object>> = {
        '/v1/payments/qr_codes/qr_1': {
          id: 'qr_1',
          entity: 'qr_code',
          status: 'closed',
          payment_amount: 300,
          notes: { attempt: 'att_1' },
        },
        '/v1/payments/qr_codes/qr_1/payments': list(second, payment),
        '/v1/payments/pay_2/refunds': list(own),
        '/v1/disputes/disp_1': { ...dispute, status },
      }
      const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        const path = new URL(request.url ?? '', 'http://127.0.0.1').pathname
        if (request.method === 'POST') asked.push([path, JSON.parse(await text(request))])
        const made = list({ id: 'rfnd_1', amount, status: 'processed', receipt: KEY })
        const isRead = path === '/v1/payments/pay_1/refunds' && asked.length > 0
        response.end(JSON.stringify(isRead ? made : (answers[path] ?? {})))
      }
      await withPartnerThat(
        server,
        (request, response) => void answer(request, response),
        async ({ local_partner: partner }) => {
          const ref = { attemptId: 'att_1', reference: 'qr_1', disputes: ['disp_1'] }
          expect(await partner.readOrder(ref, soon())).toMatchObject({
            status: 'paid',
            received: { minor: `${amount}` },
          })
          expect(await partner.refundOrder?.({ ...ref, key: KEY, amount: null }, soon())).toEqual({ kind: 'refunded' })
          expect(asked).toEqual([['/v1/payments/pay_1/refund', { amount, receipt: KEY }]])
        },
      )
    },
  )
})

describe('The state of a QR code', () => {
  // The fields of the published entity.
  const qr = (fields: object) =>
    qrSchema.parse({
      id: 'qr_HMsVL8HOpbMcjU',
      entity: 'qr_code',
      status: 'active',
      payment_amount: 300,
      notes: { attempt: 'att_1' },
      ...fields,
    })
  const payment = (fields: Partial<Payment>): Payment => ({
    id: 'pay_1',
    status: 'captured',
    amount: 300,
    amount_refunded: 0,
    currency: 'INR',
    ...fields,
  })
  const refund = (fields: object) =>
    ({ id: 'rfnd_1', amount: 100, status: 'processed', receipt: null, ...fields }) as const
  const lost = { id: 'disp_1', payment_id: 'pay_1', status: 'lost', amount_deducted: 300, created_at: 0 } as const

  test.each([
    ['a code that waits', {}, [], [], [], 'open', null],
    ['a code whose payment has failed can still be paid', {}, [payment({ status: 'failed' })], [], [], 'open', null],
    ['a payment that is authorized', {}, [payment({ status: 'authorized' })], [], [], 'confirming', null],
    ['a payment after a failed one', {}, [payment({ status: 'failed' }), payment({})], [], [], 'paid', 300n],
    ['a refund of a part', {}, [payment({})], [refund({})], [], 'paid', 200n],
    ['a pending refund by somebody else', {}, [payment({})], [refund({ status: 'pending' })], [], 'paid', 200n],
    [
      'a pending refund of the platform',
      {},
      [payment({})],
      [refund({ status: 'pending', receipt: 'k' })],
      [],
      'paid',
      300n,
    ],
    ['a failed refund', {}, [payment({})], [refund({ status: 'failed' })], [], 'paid', 300n],
    ['a whole refund', {}, [payment({})], [refund({ amount: 300 })], [], 'refunded', 300n],
    ['a lost dispute', {}, [payment({})], [], [lost], 'declined', null],
    ['a dispute under review', {}, [payment({})], [], [{ ...lost, status: 'under_review' }], 'paid', 300n],
    ['a code that was closed', { status: 'closed', close_reason: 'on_demand' }, [], [], [], 'canceled', null],
    ['a code whose time is over', { status: 'closed', close_reason: null }, [], [], [], 'expired', null],
  ] as const)('%s', (_name, fields, payments, refunds, disputes, status, received) => {
    const order = { qr: qr(fields), payments, refunds: refunds as never, disputes }
    expect(readState(order)).toMatchObject({ status, received })
  })
})

describe('Razorpay’s callbacks', () => {
  const read = (payload: object, secrets = ['new', 'old'], signedBy = 'old') => {
    const body = JSON.stringify({ entity: 'event', account_id: 'acc_1', event: 'any', payload, created_at: 1 })
    const headers = { 'x-razorpay-signature': hmacSha256(signedBy, body, 'hex') }
    return readCallback({ account: '', webhookSecrets: secrets }, { headers, body: Buffer.from(body), receivedAt: 0 })
  }
  const subject = (payload: object) => {
    const reading = read(payload)
    return reading.kind === 'order' ? reading.subject : reading.kind
  }

  test('a repeated callback is signed with the secret of its time, and both are accepted', () => {
    const payload = { qr_code: { entity: { notes: { attempt: 'att_1' } } } }
    expect(read(payload).kind).toBe('order')
    expect(read(payload, ['new', 'old'], 'new').kind).toBe('order')
    expect(read(payload, ['new'])).toEqual({ kind: 'refused', reason: 'signature' })
  })

  test.each<[string, object, unknown]>([
    ['a QR code', { qr_code: { entity: { id: 'qr_1', notes: { attempt: 'att_1' } } } }, { attemptId: 'att_1' }],
    ['a payment', { payment: { entity: { id: 'pay_1', notes: { attempt: 'att_1' } } } }, { attemptId: 'att_1' }],
    ['a payment without notes', { payment: { entity: { id: 'pay_1', notes: [] } } }, { payment: 'pay_1' }],
    ['a refund', { refund: { entity: { id: 'rfnd_1', payment_id: 'pay_1' } } }, { payment: 'pay_1' }],
    ['a dispute', { dispute: { entity: { id: 'disp_1', payment_id: 'pay_1' } } }, 'dispute'],
    ['a settlement', { settlement: { entity: { id: 'setl_1' } } }, 'foreign'],
  ])('the event of %s names what is read', (_name, payload, expected) => {
    expect(subject(payload)).toEqual(expected)
  })
})
