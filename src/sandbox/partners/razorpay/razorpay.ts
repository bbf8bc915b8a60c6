import { randomBytes } from 'node:crypto'
import { type Response, Router } from 'express'
import { z } from 'zod'
import { formatAmount } from '../../../domain/money.ts'
import type { FailureCode } from '../../../domain/payment/partner.ts'
import { hmacSha256 } from '../../../partners/signature.ts'
import { isSameSecret } from '../../../runtime/constant-time.ts'
import { jsonBody, jsonReply, perform, type Reply, write } from '../answer.ts'
import type { Operation } from '../faults.ts'
import { countPaid, type OpenRequest, type SandboxOrder } from '../order.ts'
import type { ApiDeps, Wire } from '../wire.ts'

/** Simulates Razorpay's QR codes: what src/partners/razorpay uses of https://razorpay.com/docs/api. */

const REASONS: Readonly<Record<FailureCode, readonly [code: string, reason: string]>> = {
  declined: ['BAD_REQUEST_ERROR', 'payment_failed'],
  insufficient_funds: ['BAD_REQUEST_ERROR', 'insufficient_funds'],
  verification_failed: ['BAD_REQUEST_ERROR', 'payment_failed'],
  abandoned: ['BAD_REQUEST_ERROR', 'payment_cancelled'],
  reversed: ['BAD_REQUEST_ERROR', 'payment_failed'],
  partner_unavailable: ['GATEWAY_ERROR', 'gateway_technical_error'],
}

const isReversed = ({ status, failureCode }: SandboxOrder): boolean =>
  status === 'declined' && failureCode === 'reversed'

const EVENTS: Readonly<Record<SandboxOrder['status'], string>> = {
  open: 'qr_code.created',
  verification_required: 'payment.authorized',
  confirming: 'payment.authorized',
  on_hold: 'payment.authorized',
  paid: 'qr_code.credited',
  declined: 'payment.failed',
  canceled: 'qr_code.closed',
  expired: 'qr_code.closed',
  refunded: 'refund.processed',
}

export const razorpayWire: Wire = {
  provider: 'local_partner',
  path: '/local-partner',
  title: 'UPI payment',
  newReference: () => `qr_${randomBytes(7).toString('hex')}`,
  routes,
  event(order, { at }) {
    const named = isReversed(order)
      ? { dispute: { entity: { ...describeDispute(order), amount: Number(order.minor) } } }
      : order.status === 'refunded'
        ? { refund: { entity: { id: refundId(order), payment_id: paymentId(order), amount: Number(order.minor) } } }
        : { qr_code: { entity: describe(order) }, payment: { entity: describePayment(order) } }
    const event = isReversed(order) ? 'payment.dispute.lost' : EVENTS[order.status]
    return z
      .record(z.string(), z.json())
      .parse({ entity: 'event', account_id: 'acc_sandbox', event, payload: named, created_at: Math.floor(at / 1000) })
  },
  sign(event, { secret }) {
    const body = JSON.stringify(event)
    return { body, headers: { 'x-razorpay-signature': hmacSha256(secret, body, 'hex') } }
  },
}

const qrRequest = z.strictObject({
  type: z.literal('upi_qr'),
  usage: z.literal('single_use'),
  fixed_amount: z.literal(true),
  payment_amount: z.int().min(1).max(999_999_999_999_999),
  description: z.string().max(2048),
  close_by: z.int().min(1).max(2_147_483_647),
  notes: z.strictObject({ attempt: z.string().min(1).max(256) }),
})
const refundRequest = z.strictObject({ amount: z.int().min(1), receipt: z.string().min(10).max(40) })

const pageQuery = z.strictObject({
  count: z.coerce.number().int().min(1).max(100),
  skip: z.coerce.number().int().min(0),
})

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  router.use('/v1', (request, response, next) => {
    const expected = `Basic ${Buffer.from(`${deps.account}:${deps.secret}`).toString('base64')}`
    if (isSameSecret(request.get('authorization') ?? '', expected)) next()
    else write(response, problem(401, 'The api key provided is invalid'))
  })
  router.post('/v1/payments/qr_codes', async (request, response) => {
    const wanted = readQrRequest(jsonBody(request), deps.account)
    if (wanted === null) return write(response, problem(400, 'The request is not valid'))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, async () => {
      const opening = await book.open(wanted)
      return opening.kind === 'conflict' ? problem(409, 'Another code') : jsonReply(200, describe(opening.order))
    })
  })
  router.get('/v1/payments/qr_codes', (_request, response) =>
    perform({ response, faults, operation: 'read', key: '' }, async () => jsonReply(200, list([]))),
  )
  router.get('/v1/payments/qr_codes/:id', (request, response) =>
    withOrder(deps, { reference: request.params.id, response, operation: 'read' }, async (order) =>
      jsonReply(200, describe(order)),
    ),
  )
  router.get('/v1/payments/qr_codes/:id/payments', async (request, response) => {
    const order = await book.findByReference(request.params.id)
    write(response, order === null ? missing() : jsonReply(200, list(isTried(order) ? [describePayment(order)] : [])))
  })
  router.post('/v1/payments/qr_codes/:id/close', (request, response) =>
    withOrder(deps, { reference: request.params.id, response, operation: 'cancel' }, async (order) => {
      const closed = await book.cancel(order.attemptId)
      return closed === null ? missing() : jsonReply(200, describe(closed))
    }),
  )
  router.get('/v1/payments/:id/refunds', async (request, response) => {
    const order = await book.findByReference(request.params.id.replace(/^pay_/, 'qr_'))
    write(response, order === null ? missing() : jsonReply(200, list(describeRefunds(order))))
  })
  router.post('/v1/payments/:id/refund', (request, response) => {
    const reference = request.params.id.replace(/^pay_/, 'qr_')
    return withOrder(deps, { reference, response, operation: 'refund' }, async (order) => {
      const wanted = refundRequest.safeParse(jsonBody(request))
      if (!wanted.success) return problem(400, 'The request is not valid')
      const done = await book.refund(order.attemptId, { key: wanted.data.receipt, minor: `${wanted.data.amount}` })
      if (done === null) return missing()
      if (done.kind === 'refused') return problem(400, done.reason)
      const made = await book.find(order.attemptId)
      return made === null ? missing() : jsonReply(200, describeRefunds(made).at(-1))
    })
  })
  router.get('/v1/disputes', async (request, response) => {
    const wanted = pageQuery.safeParse(request.query)
    if (!wanted.success) return write(response, problem(400, 'The request is not valid'))
    const { count, skip } = wanted.data
    const disputes = (await book.list()).filter(isReversed).toReversed().map(describeDispute)
    write(response, jsonReply(200, list(disputes.slice(skip, skip + count))))
  })
  router.get('/v1/disputes/:id', async (request, response) => {
    const disputed = (await book.list()).find((order) => isReversed(order) && disputeId(order) === request.params.id)
    write(response, disputed === undefined ? missing() : jsonReply(200, describeDispute(disputed)))
  })
  return router
}

type Asked = { readonly reference: string; readonly response: Response; readonly operation: Operation }

async function withOrder(
  { book, faults }: ApiDeps,
  { reference, response, operation }: Asked,
  answer: (order: SandboxOrder) => Promise<Reply>,
): Promise<void> {
  const known = await book.findByReference(reference)
  await perform({ response, faults, operation, key: known?.attemptId ?? '' }, async () => {
    const order = await book.findByReference(reference)
    return order === null ? missing() : answer(order)
  })
}

function readQrRequest(body: unknown, account: string): OpenRequest | null {
  const wanted = qrRequest.safeParse(body)
  if (!wanted.success) return null
  const { data } = wanted
  return {
    attemptId: data.notes.attempt,
    account,
    minor: `${data.payment_amount}`,
    currency: 'INR',
    method: 'upi',
    description: data.description,
    // A UPI app does not send the buyer back.
    returnUrl: 'http://127.0.0.1:9/',
    expiresAt: data.close_by,
  }
}

const paymentId = ({ reference }: SandboxOrder): string => reference.replace(/^qr_/, 'pay_')
const disputeId = ({ reference }: SandboxOrder): string => reference.replace(/^qr_/, 'disp_')
const refundId = ({ reference }: SandboxOrder): string => reference.replace(/^qr_/, 'rfnd_')

const isTried = ({ status }: SandboxOrder): boolean =>
  !['open', 'verification_required', 'canceled', 'expired'].includes(status)

function describe(order: SandboxOrder) {
  const isOpen = order.status === 'open' || order.status === 'verification_required'
  const amount = formatAmount({ minor: order.minor, currency: 'INR' }).replace(/\.?0+$/, '')
  const reasons: Readonly<Record<string, string>> = { canceled: 'on_demand', paid: 'paid', refunded: 'paid' }
  return {
    id: order.reference,
    entity: 'qr_code',
    type: 'upi_qr',
    usage: 'single_use',
    fixed_amount: true,
    status: isOpen ? 'active' : 'closed',
    close_reason: reasons[order.status] ?? null,
    payment_amount: Number(order.minor),
    created_at: Math.floor(order.openedAt / 1000),
    close_by: order.expiresAt,
    // Razorpay writes amounts without trailing zeros, and its own reference.
    image_content: `upi://pay?pa=sandbox.rzp@icici&pn=Pinrail&tr=${order.reference}&tn=Payment&cu=INR&mc=5815&am=${amount}`,
    notes: { attempt: order.attemptId },
  }
}

function describePayment(order: SandboxOrder) {
  const isPaid = order.status === 'paid' || order.status === 'refunded' || isReversed(order)
  const amount = Number(countPaid(order))
  const [code, reason] = order.status === 'declined' ? REASONS[order.failureCode ?? 'declined'] : [null, null]
  return {
    id: paymentId(order),
    entity: 'payment',
    status: order.status === 'refunded' ? 'refunded' : isPaid ? 'captured' : code === null ? 'authorized' : 'failed',
    amount,
    amount_refunded: order.refunds.reduce((sum, { minor }) => sum + Number(minor), 0),
    currency: 'INR',
    method: 'upi',
    error_code: isPaid ? null : code,
    error_reason: isPaid ? null : reason,
    notes: { attempt: order.attemptId },
  }
}

function describeRefunds(order: SandboxOrder): object[] {
  return order.refunds.map(({ key, minor, isDone }, place) => ({
    id: `${refundId(order)}${place}`,
    entity: 'refund',
    amount: Number(minor),
    status: isDone ? 'processed' : 'pending',
    receipt: key,
  }))
}

function describeDispute(order: SandboxOrder) {
  return {
    id: disputeId(order),
    entity: 'dispute',
    payment_id: paymentId(order),
    amount_deducted: Number(order.minor),
    status: 'lost',
    created_at: Math.floor(order.openedAt / 1000) + 1,
  }
}

const list = (items: readonly object[]) => ({ entity: 'collection', count: items.length, items })

const missing = (): Reply => problem(400, 'The id provided does not exist')

const problem = (status: number, description: string): Reply =>
  jsonReply(status, { error: { code: 'BAD_REQUEST_ERROR', description } })
