import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { PROVIDERS } from '../../../src/domain/methods.ts'
import { readCallback } from '../../../src/partners/revolut/callback.ts'
import { readState } from '../../../src/partners/revolut/state.ts'
import {
  disputeSchema,
  eventSchema,
  listSchema,
  orderSchema,
  refundSchema,
} from '../../../src/partners/revolut/wire.ts'
import { describeConformance } from '../conformance.ts'
import { describeExamples } from '../examples.ts'
import { type SandboxServer, soon, startSandboxServer } from '../sandbox-server.ts'
import { catchPartnerError, withPartnerThat } from '../strange-partner.ts'

const start = () => startSandboxServer({ drivers: { wallet_app: 'revolut' } })

describeConformance('Revolut for the banking app', { provider: 'wallet_app', driver: 'revolut' }, start)

describeExamples('revolut', {
  'order.json': orderSchema,
  'orders.json': listSchema,
  'refund.json': refundSchema,
  'dispute.json': disputeSchema,
  'event.json': eventSchema,
})

describe('Revolut’s orders', () => {
  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  test('every offered currency is opened and read back exactly', async () => {
    const partner = server.partners().wallet_app
    for (const currency of PROVIDERS.wallet_app.currencies) {
      const order = server.newOrder('wallet_app', { amount: { minor: '1203', currency } })
      const opened = await partner.openOrder(order, soon())
      const reference = opened.kind === 'opened' ? opened.reference : null
      expect((await partner.readOrder({ ...order, reference }, soon()))?.amount).toEqual(order.amount)
    }
  })

  /** Opens an order, pays it, and lets it lose a dispute. */
  async function disputed() {
    const partner = server.partners().wallet_app
    const order = server.newOrder('wallet_app')
    const opened = await partner.openOrder(order, soon())
    const ref = { attemptId: order.attemptId, reference: opened.kind === 'opened' ? opened.reference : null }
    await server.act('wallet_app', order.attemptId, { action: 'pay' })
    expect((await partner.readOrder(ref, soon()))?.payments).toEqual([`pay-${ref.reference}`])
    await server.takeCallbacks('wallet_app')
    await server.act('wallet_app', order.attemptId, { action: 'reverse' })
    return { partner, order, ref, dispute: `dispute-${ref.reference}` }
  }

  test('an order is reversed once its lost dispute is known, and the event names only the dispute', async () => {
    const { partner, ref, dispute } = await disputed()
    const readings = (await server.takeCallbacks('wallet_app')).map((each) => server.readCallback('wallet_app', each))
    expect(readings).toEqual([{ kind: 'dispute' }])
    expect((await partner.readOrder(ref, soon()))?.status).toBe('paid')
    expect(await partner.readOrder({ ...ref, disputes: [dispute] }, soon())).toMatchObject({
      status: 'declined',
      failureCode: 'reversed',
      received: null,
    })
  })

  test('a dispute about another order, or one that Revolut does not know, is an error', async () => {
    const [{ partner, ref }, other] = [await disputed(), await disputed()]
    for (const dispute of [other.dispute, 'unknown']) {
      const trouble = await catchPartnerError(partner.readOrder({ ...ref, disputes: [dispute] }, soon()))
      expect(trouble.kind).toBe('unknown')
    }
  })

  test('a list of disputes has all of them, also if they do not fit in one answer', async () => {
    const before = (await server.partners().wallet_app.listDisputes?.(0, soon()))?.length ?? 0
    for (let number = 0; number < 60; number += 1) {
      await disputed()
      server.advance(1)
    }
    expect(await server.partners().wallet_app.listDisputes?.(0, soon())).toHaveLength(before + 60)
  })
})

describe('A refund at Revolut', () => {
  const KEY = 'att_1:refund:1'
  const order = {
    id: 'order_1',
    type: 'payment',
    state: 'completed',
    amount: 500,
    currency: 'GBP',
    payments: [{ id: 'pay_1', state: 'captured' }],
    merchant_order_data: { reference: 'att_1' },
  }
  const lost = { id: 'disp_1', state: 'lost', amount: 200, currency: 'GBP', payment: { id: 'pay_1' } }
  const refund = (reference: string) => ({
    id: 'order_2',
    type: 'refund',
    state: 'completed',
    merchant_order_data: { reference },
  })

  let server: SandboxServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  /** Refunds at a partner that lists these refunds for the key, and answers with them. */
  async function refundWith(listed: object[], made: object) {
    const asked: unknown[] = []
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const path = new URL(request.url ?? '', 'http://127.0.0.1').pathname
      if (request.method === 'POST') asked.push(JSON.parse(await text(request)))
      const answers: Readonly<Record<string, object>> = {
        '/api/orders': { orders: listed },
        '/api/orders/order_1': order,
        '/api/disputes/disp_1': lost,
      }
      response.end(JSON.stringify(answers[path] ?? made))
    }
    let result: unknown
    await withPartnerThat(
      server,
      (request, response) => void answer(request, response),
      async ({ wallet_app: partner }) => {
        const ref = { attemptId: 'att_1', reference: 'order_1', disputes: ['disp_1'], key: KEY, amount: null }
        result = await partner.refundOrder?.(ref, soon()).catch((error: unknown) => error)
      },
    )
    return { asked, result }
  }

  test('a refund is of the money that no dispute has taken', async () => {
    const { asked, result } = await refundWith([], refund(KEY))
    expect(result).toEqual({ kind: 'refunded' })
    expect(asked).toMatchObject([{ amount: 300, merchant_order_data: { reference: KEY } }])
  })

  test('a refund with another key is not the one that was requested', async () => {
    const other = refund('att_2:refund:1')
    for (const listed of [[], [other]])
      expect((await refundWith(listed, other)).result).toMatchObject({
        kind: 'unknown',
        message: expect.stringContaining('another refund'),
      })
  })
})

describe('The state of an order', () => {
  const order = (fields: object) =>
    orderSchema.parse({
      id: '9fc01989-3f61-4484-a5d9-ffe768531be9',
      type: 'payment',
      state: 'completed',
      amount: 500,
      currency: 'GBP',
      merchant_order_data: { reference: 'att_1' },
      ...fields,
    })
  const lost = {
    id: '1',
    state: 'lost',
    amount: 200,
    currency: 'GBP',
    payment: { id: 'p' },
  } as const
  const running = { ...lost, state: 'under_review' } as const

  test.each([
    [{ state: 'pending' }, [], 'open', null],
    [{ state: 'authorised' }, [], 'confirming', null],
    [{}, [], 'paid', 500n],
    [{ refunded_amount: 100 }, [], 'paid', 400n],
    [{ refunded_amount: 100 }, [lost], 'paid', 200n],
    [{}, [running], 'paid', 500n],
    [{ refunded_amount: 300 }, [lost], 'declined', null],
    [{ refunded_amount: 400 }, [lost], 'declined', -100n],
    [{ refunded_amount: 500 }, [], 'refunded', 500n],
    [{ state: 'failed' }, [], 'expired', null],
    [{ state: 'cancelled' }, [], 'canceled', null],
  ] as const)('%j with disputes %j is %s', (fields, disputes, status, received) => {
    expect(readState(order(fields), disputes)).toMatchObject({ status, received })
  })

  test.each([
    ['insufficient_funds', 'insufficient_funds'],
    ['customer_name_mismatch', 'verification_failed'],
    ['3ds_challenge_abandoned', 'abandoned'],
    ['issuer_not_available', 'partner_unavailable'],
    ['expired_card', 'declined'],
  ])('the reason %s is %s', (reason, failureCode) => {
    const payments = [{ id: '1', state: 'declined', decline_reason: reason }]
    expect(readState(order({ state: 'failed', payments }), [])).toMatchObject({ status: 'declined', failureCode })
  })
})

describe('Revolut’s signature', () => {
  // Published with the guide on verifying signatures.
  const SECRET = 'wsk_r59a4HfWVAKycbCaNO1RvgCJec02gRd8'
  const TIME = '1683650202360'
  const BODY =
    '{"event": "ORDER_COMPLETED","order_id": "9fc01989-3f61-4484-a5d9-ffe768531be9","merchant_order_ext_ref": "Test #3928"}'
  const SIGNATURE = 'v1=281b1f1aebe9357b7b128fd6a3aae0fe202c901add4ce75e6d038e498871d7fd'

  const read = (body: string, headers: object = {}, seconds = 0, secrets = [SECRET]) =>
    readCallback(
      { account: '', webhookSecrets: secrets },
      {
        headers: { 'revolut-request-timestamp': TIME, 'revolut-signature': SIGNATURE, ...headers },
        body: Buffer.from(body),
        receivedAt: 1_683_650_202 + seconds,
      },
    )

  test('the published vector is authentic, and names the reference of the order', () => {
    expect(read(BODY)).toMatchObject({ kind: 'order', subject: { attemptId: 'Test #3928' } })
    expect(read(BODY, {}, 0, ['wsk_new', SECRET]).kind).toBe('order')
    expect(read(BODY, { 'revolut-signature': `v1=00,${SIGNATURE}` }).kind).toBe('order')
  })

  test.each([
    ['another body', [`${BODY} `], 'signature'],
    ['another time', [BODY, { 'revolut-request-timestamp': '1683650202361' }], 'signature'],
    ['a time in seconds with a fraction', [BODY, { 'revolut-request-timestamp': '1683650202.360' }], 'timestamp'],
    ['no signature', [BODY, { 'revolut-signature': undefined }], 'signature'],
    ['a late callback', [BODY, {}, 301], 'timestamp'],
    ['another secret', [BODY, {}, 0, ['wsk_other']], 'signature'],
  ] as const)('%s is refused', (_name, args, reason) => {
    expect(read(...(args as unknown as Parameters<typeof read>))).toEqual({ kind: 'refused', reason })
  })
})
