import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import type { Currency } from '../../../src/domain/currencies.ts'
import { PROVIDERS } from '../../../src/domain/methods.ts'
import { newId } from '../../../src/ids.ts'
import { createPartners } from '../../../src/partners/index.ts'
import type { DisputeRequest } from '../../../src/partners/provider.ts'
import { expand } from '../../../src/partners/stripe/orders.ts'
import {
  accountSchema,
  disputeAnswerSchema,
  disputeListSchema,
  refundListSchema,
  STRIPE_VERSION,
  sessionSchema,
} from '../../../src/partners/stripe/wire.ts'
import { describeConformance } from '../conformance.ts'
import { type SandboxServer, soon, startSandboxServer } from '../sandbox-server.ts'
import { withPartnerThat } from '../strange-partner.ts'
import { type StripeMock, startStripeMock } from './stripe-mock.ts'

let mock: StripeMock
beforeAll(async () => {
  mock = await startStripeMock()
}, 600_000)
afterAll(() => mock.close())

const PDF = Buffer.from('%PDF-1.7\n\xff\x00binary', 'latin1')
const PNG = Buffer.from('89504e470d0a1a0affff00', 'hex')

const DRIVERS = { card_partner: 'stripe', wallet_app: 'stripe' } as const
const startChecked = async () => startSandboxServer({ drivers: DRIVERS, front: await mock.createFront() })

describeConformance('Stripe for cards', { provider: 'card_partner', driver: 'stripe' }, startChecked)
describeConformance('Stripe for the banking app', { provider: 'wallet_app', driver: 'stripe' }, startChecked)

describe('Stripe Checkout', () => {
  let server: SandboxServer
  beforeAll(async () => {
    server = await startChecked()
  })
  afterAll(() => server.close())

  const card = () => server.partners().card_partner
  async function open(changes: Parameters<SandboxServer['newOrder']>[1] = {}) {
    const order = server.newOrder('card_partner', changes)
    const opened = await card().openOrder(order, soon())
    if (opened.kind !== 'opened') throw new Error('expected an opened order')
    return { order, ref: { attemptId: order.attemptId, reference: opened.reference } }
  }
  const act = (attemptId: string, action: Record<string, unknown>) => server.act('card_partner', attemptId, action)

  test('every offered currency and method is opened and read back exactly', async () => {
    const { currencies, methods } = PROVIDERS.card_partner
    for (const currency of [...currencies, 'JPY', 'CLP', 'KRW'] as Currency[]) {
      const { order, ref } = await open({ amount: { minor: '1203', currency } })
      await act(order.attemptId, { action: 'pay' })
      expect(await card().readOrder(ref, soon())).toMatchObject({ amount: order.amount, received: order.amount })
    }
    for (const method of methods) await open({ method })
  })

  test.each([
    ['JPY', '1200', '1200'],
    ['KRW', '50000', '50000'],
    ['ISK', '500', '50000'],
    ['HUF', '120000', '120000'],
    ['EUR', '5', '5'],
  ] as const)('%s: %s minor units are %s on the wire', async (currency, minor, sent) => {
    const before = mock.checked.length
    await open({ amount: { minor, currency } })
    const requests = mock.checked.slice(before).map(({ request }) => decodeURIComponent(request))
    expect(requests.join()).toContain(`[unit_amount]=${sent}&`)
  })

  test('a dispute takes the money, and its event names a payment that an earlier reading reported', async () => {
    const { order, ref } = await open()
    await act(order.attemptId, { action: 'pay' })
    const paid = await card().readOrder(ref, soon())
    await server.takeCallbacks('card_partner')
    await act(order.attemptId, { action: 'reverse' })
    const [callback] = await server.takeCallbacks('card_partner')
    const reading = server.readCallback('card_partner', callback!)
    expect(reading).toMatchObject({ kind: 'order', subject: { payment: expect.stringMatching(/^pi_/) } })
    expect(paid?.payments).toContain(
      reading.kind === 'order' && 'payment' in reading.subject && reading.subject.payment,
    )
    expect(await card().readOrder(ref, soon())).toMatchObject({
      status: 'declined',
      received: null,
      failureCode: 'reversed',
    })
  })

  test('a refund of a part leaves the order paid, with the rest', async () => {
    const { order, ref } = await open()
    await act(order.attemptId, { action: 'pay' })
    await act(order.attemptId, { action: 'reverse', receivedMinor: '1' })
    expect(await card().readOrder(ref, soon())).toMatchObject({
      status: 'paid',
      amount: order.amount,
      received: { minor: '1', currency: order.amount.currency },
    })
  })

  test('the event of another business on the account names no order of the platform', async () => {
    const { order } = await open()
    await server.fault('card_partner', { fault: 'foreign_callback', attemptId: order.attemptId, times: 1 })
    await server.takeCallbacks('card_partner')
    await act(order.attemptId, { action: 'pay' })
    const readings = (await server.takeCallbacks('card_partner')).map((each) =>
      server.readCallback('card_partner', each),
    )
    expect(readings).toMatchObject([
      { kind: 'order', subject: { attemptId: order.attemptId } },
      { kind: 'order', subject: { attemptId: 'order-1' } },
    ])
  })

  test('disputes with all the evidence that Stripe accepts are listed', async () => {
    const evidence = { uncategorized_text: 'x'.repeat(150_000) }
    const data = Array.from({ length: 20 }, (_, index) => ({
      id: `dp_${index}`,
      amount: 1,
      payment_intent: 'pi_1',
      status: 'under_review',
      evidence,
    }))
    await withPartnerThat(
      server,
      (_request, response) => response.end(JSON.stringify({ data, has_more: false })),
      async ({ card_partner: partner }) => expect(await partner.listDisputes?.(0, soon())).toHaveLength(20),
    )
  })

  /** Opens an order, pays it, and has the buyer dispute it. */
  async function disputed() {
    const { order, ref } = await open()
    await act(order.attemptId, { action: 'pay' })
    await act(order.attemptId, { action: 'reverse' })
    const [dispute] = (await card().readOrder(ref, soon()))?.disputes ?? []
    if (dispute === undefined) throw new Error('expected a dispute')
    const read = async () => ((await card().readOrder(ref, soon()))?.disputes ?? [])[0]
    return { order, ref, dispute, read }
  }

  const evidence = (dispute: string, changes: Partial<DisputeRequest> = {}): DisputeRequest => ({
    dispute,
    key: newId('disputeAnswer'),
    kind: 'evidence',
    submit: true,
    texts: { explanation: 'The buyer signed for it.', customer_email: 'ada@shop.example' },
    files: { receipt: PDF, other: PNG },
    ...changes,
  })
  const answer = (request: DisputeRequest) => card().answerDispute?.(request, soon())

  test('a dispute has its reason, its deadline and its fee', async () => {
    const { order, dispute } = await disputed()
    expect(dispute).toMatchObject({
      kind: 'chargeback',
      status: 'needs_response',
      reason: 'fraudulent',
      reasonText: 'fraudulent, 10.4',
      amount: order.amount,
      takenMinor: order.amount.minor,
      fee: { minor: '2000', currency: order.amount.currency },
      answeredAt: 'api',
      isEvidenceSubmitted: false,
    })
    expect(Date.parse(dispute.evidenceDueAt ?? '') - Date.parse(dispute.openedAt ?? '')).toBe(14 * 86_400_000)
  })

  test('evidence with files is submitted once, and read back', async () => {
    const { dispute, read } = await disputed()
    const request = evidence(dispute.id)
    const before = mock.checked.length
    for (let call = 0; call < 2; call++) expect(await answer(request)).toEqual({ kind: 'taken' })
    expect(await read()).toMatchObject({ status: 'under_review', isEvidenceSubmitted: true })
    const sent = mock.checked
      .slice(before)
      .map(({ request: text }) => text.replaceAll('%5B', '[').replaceAll('%5D', ']'))
    expect(sent.filter((text) => text.startsWith('POST /v1/files'))).toHaveLength(2)
    expect(sent.join()).toContain('evidence[uncategorized_text]=The+buyer+signed+for+it.')
    expect(sent.join()).toContain('evidence[customer_email_address]=ada%40shop.example')
    expect(sent.join()).toContain('evidence[receipt]=file_')
    expect(sent.join()).toContain('evidence[uncategorized_file]=file_')
  })

  test('evidence whose answer got lost is taken, and is not submitted twice', async () => {
    const { order, dispute, read } = await disputed()
    const request = evidence(dispute.id, { files: {} })
    const lost = { fault: 'timeout_after_effect', operation: 'evidence', attemptId: order.attemptId, times: 1 }
    await server.fault('card_partner', lost)
    await expect(answer(request)).rejects.toMatchObject({ kind: 'unknown' })
    expect(await answer(request)).toEqual({ kind: 'taken' })
    // As if the partner had forgotten the key: it refuses the repetition, and its dispute names the key.
    const forgotten = { ...request, texts: { explanation: 'The same key with other content.' } }
    expect(await answer(forgotten)).toEqual({ kind: 'taken' })
    const { dispute: stored } = (await server.sandbox.partners.card_partner.book.find(order.attemptId)) ?? {}
    expect(stored?.submissions).toBe(1)
    expect(await read()).toMatchObject({ status: 'under_review' })
  })

  /** The driver against a partner that answers each POST with the status, and shows the dispute with the changes. */
  const answerAt = async (status: number, changes: object, request: DisputeRequest) => {
    const shown = {
      object: 'dispute',
      id: 'du_1',
      amount: 1,
      payment_intent: 'pi_1',
      status: 'needs_response',
      ...changes,
    }
    const error = { error: { type: 'invalid_request_error', code: 'file_invalid' } }
    let result: unknown
    const reply = (asked: IncomingMessage, response: ServerResponse) => {
      response.statusCode = asked.method === 'GET' ? 200 : status
      response.end(JSON.stringify(asked.method === 'GET' ? shown : error))
    }
    await withPartnerThat(server, reply, async ({ card_partner: partner }) => {
      result = await partner.answerDispute?.(request, soon())
    })
    return result
  }

  test('evidence that was taken stays taken when its files are refused later', async () => {
    const request = evidence('du_1')
    expect(await answerAt(400, { status: 'under_review', metadata: { answer: request.key } }, request)).toEqual({
      kind: 'taken',
    })
    expect(await answerAt(400, {}, request)).toEqual({ kind: 'refused', reason: 'receipt: file_invalid' })
  })

  test('an answer that the partner never takes ends when the dispute is over', async () => {
    const request = evidence('du_1', { files: {} })
    await expect(answerAt(403, {}, request)).rejects.toThrow()
    expect(await answerAt(403, { status: 'lost' }, request)).toEqual({ kind: 'refused', reason: 'the dispute is over' })
  })

  test('an inquiry that was accepted is closed', async () => {
    const request = evidence('du_1', { kind: 'accept' })
    expect(await answerAt(400, { status: 'warning_closed' }, request)).toEqual({ kind: 'taken' })
  })

  test('stored evidence can be completed, and nothing is taken after it was submitted', async () => {
    const { dispute, read } = await disputed()
    expect(await answer(evidence(dispute.id, { submit: false }))).toEqual({ kind: 'taken' })
    expect(await read()).toMatchObject({ status: 'needs_response', isEvidenceSubmitted: false })
    expect(await answer(evidence(dispute.id, { texts: { explanation: 'winning_evidence' } }))).toEqual({
      kind: 'taken',
    })
    expect(await read()).toMatchObject({ status: 'won', takenMinor: '0', fee: null })
    expect(await answer(evidence(dispute.id))).toEqual({ kind: 'refused', reason: 'the dispute is over' })
    expect(await answer(evidence('du_unknown'))).toMatchObject({ kind: 'refused' })
  })

  test('an accepted dispute is lost, and accepting it again is no error', async () => {
    const { dispute, read } = await disputed()
    for (const key of ['a', 'b'])
      expect(await answer(evidence(dispute.id, { kind: 'accept', key: `${dispute.id}-${key}` }))).toEqual({
        kind: 'taken',
      })
    expect(await read()).toMatchObject({ status: 'lost' })
  })

  test('a key of another account opens nothing', async () => {
    const settings = server.settings('card_partner', { account: 'acct_of_somebody_else' })
    const all = { wallet_app: settings, card_partner: settings, local_partner: server.settings('local_partner') }
    const order = server.newOrder('card_partner')
    const opening = createPartners(all).card_partner.openOrder(order, soon())
    await expect(opening).rejects.toMatchObject({ kind: 'misconfigured', isWhole: true })
    expect(await server.sandbox.partners.card_partner.book.find(order.attemptId)).toBeNull()
  })

  test('canceling a paid session reads it, and it stays paid', async () => {
    const { order, ref } = await open()
    await act(order.attemptId, { action: 'pay' })
    expect(await card().cancelOrder?.(ref, soon())).toMatchObject({ status: 'paid', received: order.amount })
  })

  test('an order whose opening got no answer reads as null, and is opened again', async () => {
    const attemptId = newId('attempt')
    await server.fault('card_partner', { fault: 'timeout_after_effect', operation: 'open', attemptId, times: 1 })
    const order = server.newOrder('card_partner', { attemptId })
    await expect(card().openOrder(order, soon())).rejects.toMatchObject({ kind: 'unknown' })
    expect(await card().readOrder({ attemptId, reference: null }, soon())).toBeNull()
    expect(await card().cancelOrder?.({ attemptId, reference: null }, soon())).toBeNull()
    expect(await card().openOrder(order, soon())).toMatchObject({ kind: 'opened' })
  })

  // The example of a session has no price.
  const price = { amount_total: 4999, currency: 'eur' }
  test.each<[string, z.ZodType, object]>([
    ['/v1/account', accountSchema, {}],
    [`/v1/checkout/sessions/cs_1?${new URLSearchParams(expand()).toString()}`, sessionSchema, price],
    ['/v1/refunds?payment_intent=pi_1&limit=50', refundListSchema, {}],
    ['/v1/disputes?payment_intent=pi_1&limit=50', disputeListSchema, {}],
    ['/v1/disputes/du_1', disputeAnswerSchema, {}],
  ])("Stripe's own example of %s can be read", async (path, schema, missing) => {
    const headers = { authorization: 'Bearer sk_test_123', 'stripe-version': STRIPE_VERSION }
    const answer = (await (await fetch(`${mock.url}${path}`, { headers })).json()) as object
    expect(schema.safeParse({ ...answer, ...missing }).error?.issues ?? []).toEqual([])
  })
})

/** The last test of the file: all requests of those before it. */
test('stripe-mock has accepted every request of the suite', () => {
  expect(mock.checked.length).toBeGreaterThan(300)
  expect(mock.checked.filter(({ refusal }) => refusal !== null)).toEqual([])
})
