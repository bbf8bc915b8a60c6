import { randomBytes } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { type Currency, isCurrency } from '../../domain/currencies.ts'
import { PROVIDERS } from '../../domain/methods.ts'
import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import { hmacSha256 } from '../../partners/signature.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { formBody, jsonReply, perform, type Reply, write } from './answer.ts'
import type { OpenRequest, SandboxOrder } from './order.ts'
import type { ApiDeps, Wire } from './wire.ts'

/** Simulates the card partner: docs/providers.md, "Card partner". */

const STATUS_NAMES: Readonly<Record<OrderStatus, readonly [string, string]>> = {
  open: ['open', 'requires_payment'],
  verification_required: ['open', 'requires_identity'],
  confirming: ['open', 'pending'],
  on_hold: ['open', 'in_review'],
  paid: ['complete', 'paid'],
  declined: ['complete', 'failed'],
  canceled: ['canceled', 'requires_payment'],
  expired: ['expired', 'requires_payment'],
  refunded: ['complete', 'refunded'],
}

const ERROR_CODES: Readonly<Record<FailureCode, string>> = {
  declined: 'card_declined',
  insufficient_funds: 'insufficient_funds',
  verification_failed: 'identity_failed',
  abandoned: 'customer_left',
  reversed: 'payment_reversed',
  partner_unavailable: 'processor_unavailable',
}

const sessionSchema = z.strictObject({
  client_reference: z.string().min(1).max(100),
  amount: z.string().regex(/^[1-9]\d{0,14}$/),
  currency: z.string().regex(/^[a-z]{3}$/),
  payment_method_type: z.enum(['card', 'device_wallet', 'online_wallet']),
  description: z.string().max(400),
  return_url: z.url({ protocol: /^https?$/ }),
  expires_at: z.string().regex(/^[1-9]\d{0,10}$/),
})
const refundQuery = z.object({ session: z.string().optional(), key: z.string().optional() })

export const cardPartner: Wire = {
  provider: 'card_partner',
  path: '/card-partner',
  title: 'Card payment',
  newReference: () => `cs_${randomBytes(12).toString('hex')}`,
  routes,
  event: (order, { eventId, at }) => ({
    id: eventId,
    object: 'event',
    type: 'session.updated',
    created: Math.floor(at / 1000),
    account: order.account,
    data: { object: summary(order) },
  }),
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    return { body, headers: { 'card-signature': `t=${now},v1=${hmacSha256(secret, `${now}.${body}`, 'hex')}` } }
  },
}

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  router.use('/v1', (request, response, next) => {
    const isOurs = isSameSecret(request.get('authorization') ?? '', `Bearer ${deps.secret}`)
    if (isOurs && request.get('partner-account') === deps.account) next()
    else write(response, problem(401, 'authentication_error', 'invalid_credentials'))
  })
  router.post('/v1/sessions', async (request, response) => {
    const wanted = readSession(request, deps.account)
    if (wanted === null || request.get('idempotency-key') !== wanted.attemptId)
      return write(response, problem(400, 'invalid_request_error', 'parameter_invalid'))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, () => open(deps, wanted))
  })
  router.get('/v1/sessions', async (request, response) => {
    const key = typeof request.query['client_reference'] === 'string' ? request.query['client_reference'] : ''
    await perform({ response, faults, operation: 'read', key }, async () => {
      const order = await book.find(key)
      return jsonReply(200, { object: 'list', data: order === null ? [] : [describe(deps, order)] })
    })
  })
  router.post('/v1/sessions/:id/cancel', async (request, response) => {
    const order = await book.findByReference(request.params.id)
    const key = order?.attemptId ?? ''
    await perform({ response, faults, operation: 'cancel', key }, async () => {
      const canceled = await book.cancel(key)
      return canceled === null ? absent() : jsonReply(200, describe(deps, canceled))
    })
  })
  router.post('/v1/refunds', (request, response) => refund(deps, request, response))
  router.get('/v1/refunds', async (request, response) => {
    const { session = '', key } = refundQuery.parse(request.query)
    const order = await book.findByReference(session)
    await perform({ response, faults, operation: 'read', key: order?.attemptId ?? '' }, async () => {
      const known = order?.refunds.filter((one) => one.key === key) ?? []
      const data = known.map(({ isDone }) => describeRefund(session, isDone ? 'done' : 'pending'))
      return jsonReply(200, { object: 'list', data })
    })
  })
  return router
}

async function open(deps: ApiDeps, wanted: OpenRequest): Promise<Reply> {
  const opening = await deps.book.open(wanted)
  if (opening.kind === 'conflict') return problem(409, 'idempotency_error', 'idempotency_key_reused')
  const { order } = opening
  if (opening.kind === 'declined') return problem(402, 'card_error', ERROR_CODES[order.failureCode ?? 'declined'])
  return jsonReply(200, describe(deps, order))
}

async function refund(deps: ApiDeps, request: Request, response: Response): Promise<void> {
  const { session = '', amount } = formBody(request)
  const refundKey = request.get('idempotency-key') ?? ''
  if (refundKey === '') return write(response, problem(400, 'invalid_request_error', 'idempotency_key_missing'))
  const order = await deps.book.findByReference(session)
  const key = order?.attemptId ?? ''
  await perform({ response, faults: deps.faults, operation: 'refund', key }, async () => {
    const done = await deps.book.refund(key, { key: refundKey, minor: amount })
    if (done === null) return absent()
    return jsonReply(200, describeRefund(session, done.kind, done.kind === 'refused' ? done.reason : null))
  })
}

function describeRefund(session: string, kind: 'done' | 'pending' | 'refused', reason: string | null = null): object {
  const status = { done: 'succeeded', pending: 'pending', refused: 'failed' }[kind]
  return { object: 'refund', session, status, failure_reason: reason }
}

function summary(order: SandboxOrder) {
  const [status, paymentStatus] = STATUS_NAMES[order.status]
  return {
    object: 'session',
    id: order.reference,
    account: order.account,
    client_reference: order.attemptId,
    status,
    payment_status: paymentStatus,
    amount: Number(order.minor),
    amount_received: Number(order.receivedMinor ?? '0'),
    currency: order.currency.toLowerCase(),
    last_error: order.failureCode === null ? null : { code: ERROR_CODES[order.failureCode] },
  }
}

function describe(deps: ApiDeps, order: SandboxOrder): object {
  return { ...summary(order), url: deps.pageUrl(order), expires_at: order.expiresAt }
}

function readSession(request: Request, account: string): OpenRequest | null {
  const wanted = sessionSchema.safeParse(formBody(request))
  const currency = wanted.success ? wanted.data.currency.toUpperCase() : ''
  if (!wanted.success || !isCharged(currency)) return null
  const { data } = wanted
  return {
    attemptId: data.client_reference,
    account,
    minor: data.amount,
    currency,
    method: data.payment_method_type,
    description: data.description,
    returnUrl: data.return_url,
    expiresAt: Number(data.expires_at),
  }
}

function isCharged(currency: string): currency is Currency {
  return isCurrency(currency) && PROVIDERS.card_partner.currencies.includes(currency)
}

function absent(): Reply {
  return problem(404, 'invalid_request_error', 'resource_missing')
}

function problem(status: number, type: string, code: string): Reply {
  return jsonReply(status, { error: { type, code } })
}
