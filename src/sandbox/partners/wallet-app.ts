import { randomBytes } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { isCurrency } from '../../domain/currencies.ts'
import { PROVIDERS } from '../../domain/methods.ts'
import { formatAmount, parseAmount } from '../../domain/money.ts'
import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import { hmacSha256, isInWindow, parseTimestamp, sha256Hex } from '../../partners/signature.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { jsonBody, jsonReply, perform, type Reply, rawBody, write } from './answer.ts'
import type { OpenRequest, SandboxOrder } from './order.ts'
import type { ApiDeps, Wire } from './wire.ts'

/** Simulates the banking app: docs/providers.md, "Wallet app". */

const STATE_NAMES: Readonly<Record<OrderStatus, string>> = {
  open: 'AWAITING_PAYMENT',
  verification_required: 'IDENTITY_CHECK',
  confirming: 'PROCESSING',
  on_hold: 'UNDER_REVIEW',
  paid: 'COMPLETED',
  declined: 'DECLINED',
  canceled: 'CANCELLED',
  expired: 'EXPIRED',
  refunded: 'REFUNDED',
}

const REASONS: Readonly<Record<FailureCode, string>> = {
  declined: 'DECLINED_BY_BANK',
  insufficient_funds: 'INSUFFICIENT_BALANCE',
  verification_failed: 'IDENTITY_CHECK_FAILED',
  abandoned: 'CUSTOMER_LEFT',
  reversed: 'REVERSED',
  partner_unavailable: 'SERVICE_UNAVAILABLE',
}

const openSchema = z.strictObject({
  merchant_order_ref: z.string().min(1).max(100),
  amount: z.strictObject({ value: z.string(), currency: z.string() }),
  description: z.string().max(400),
  return_url: z.url({ protocol: /^https?$/ }),
  expires_at: z.iso.datetime(),
})
const refundSchema = z.strictObject({
  refund_ref: z.string().min(1).max(200),
  amount: z.strictObject({ value: z.string(), currency: z.string() }).optional(),
})

export const walletApp: Wire = {
  provider: 'wallet_app',
  path: '/wallet-app',
  title: 'Banking app',
  newReference: () => `wo_${randomBytes(12).toString('hex')}`,
  routes,
  event: (order, { eventId, at }) => ({
    event_id: eventId,
    event: 'order.state_changed',
    occurred_at: new Date(at).toISOString(),
    merchant_id: order.account,
    order: {
      id: order.reference,
      merchant_order_ref: order.attemptId,
      state: getState(order),
      amount: formatMoney(order, order.minor),
      received: order.receivedMinor === null ? null : formatMoney(order, order.receivedMinor),
    },
  }),
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    const signature = hmacSha256(secret, `wallet-app-callback\n${now}\n${body}`, 'hex')
    return { body, headers: { 'x-callback-timestamp': now.toString(), 'x-callback-signature': signature } }
  },
}

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  router.use('/v2', (request, response, next) => {
    if (isAuthentic(request, deps)) next()
    else write(response, jsonReply(401, { code: 'UNAUTHENTICATED' }))
  })
  router.post('/v2/orders', async (request, response) => {
    const wanted = readOpening(request, deps.account)
    if (wanted === null) return write(response, jsonReply(400, { code: 'INVALID_REQUEST' }))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, () => open(deps, wanted))
  })
  router.get('/v2/orders/by-ref/:ref', async (request, response) => {
    const key = request.params.ref
    await perform({ response, faults, operation: 'read', key }, async () => found(deps, await book.find(key)))
  })
  router.post('/v2/orders/by-ref/:ref/cancel', async (request, response) => {
    const key = request.params.ref
    await perform({ response, faults, operation: 'cancel', key }, async () => found(deps, await book.cancel(key)))
  })
  router.post('/v2/orders/by-ref/:ref/refunds', (request, response) => refund(deps, request, response))
  router.get('/v2/orders/by-ref/:ref/refunds/:refund', async (request, response) => {
    const { ref: key, refund: refundRef } = request.params
    await perform({ response, faults, operation: 'read', key }, async () => {
      const known = (await book.find(key))?.refunds.find((one) => one.key === refundRef)
      return known === undefined
        ? jsonReply(404, { code: 'REFUND_NOT_FOUND' })
        : jsonReply(200, describeRefund(refundRef, known.isDone ? 'done' : 'pending'))
    })
  })
  return router
}

async function open(deps: ApiDeps, wanted: OpenRequest): Promise<Reply> {
  const opening = await deps.book.open(wanted)
  if (opening.kind === 'conflict') return jsonReply(409, { code: 'REFERENCE_CONFLICT' })
  const { order } = opening
  if (opening.kind === 'declined')
    return jsonReply(422, { code: 'ORDER_DECLINED', reason: REASONS[order.failureCode ?? 'declined'] })
  return jsonReply(201, describe(deps, order))
}

function found(deps: ApiDeps, order: SandboxOrder | null): Reply {
  return order === null ? jsonReply(404, { code: 'ORDER_NOT_FOUND' }) : jsonReply(200, describe(deps, order))
}

async function refund(deps: ApiDeps, request: Request<{ ref: string }>, response: Response): Promise<void> {
  const key = request.params.ref
  const wanted = refundSchema.safeParse(jsonBody(request))
  if (!wanted.success) return write(response, jsonReply(400, { code: 'INVALID_REQUEST' }))
  const { refund_ref: refundRef, amount } = wanted.data
  const part = amount === undefined || !isCurrency(amount.currency) ? null : parseAmount(amount.value, amount.currency)
  if (part !== null && !part.ok) return write(response, jsonReply(400, { code: 'INVALID_REQUEST' }))
  await perform({ response, faults: deps.faults, operation: 'refund', key }, async () => {
    const done = await deps.book.refund(key, { key: refundRef, minor: part?.money.minor })
    if (done === null) return jsonReply(404, { code: 'ORDER_NOT_FOUND' })
    return jsonReply(200, describeRefund(refundRef, done.kind, done.kind === 'refused' ? done.reason : null))
  })
}

function describeRefund(key: string, kind: 'done' | 'pending' | 'refused', reason: string | null = null): object {
  const state = { done: 'COMPLETED', pending: 'PENDING', refused: 'REJECTED' }[kind]
  return { refund_ref: key, state, reject_reason: reason }
}

function describe(deps: ApiDeps, order: SandboxOrder): object {
  return {
    id: order.reference,
    merchant_order_ref: order.attemptId,
    merchant_id: order.account,
    state: getState(order),
    amount: formatMoney(order, order.minor),
    received: order.receivedMinor === null ? null : formatMoney(order, order.receivedMinor),
    decline_reason: order.failureCode === null ? null : REASONS[order.failureCode],
    pay_url: deps.pageUrl(order),
    expires_at: new Date(order.expiresAt * 1000).toISOString(),
  }
}

function getState(order: SandboxOrder): string {
  return order.failureCode === 'reversed' ? 'REVERSED' : STATE_NAMES[order.status]
}

function formatMoney(order: SandboxOrder, minor: string): { value: string; currency: string } {
  return { value: formatAmount({ minor, currency: order.currency }), currency: order.currency }
}

function readOpening(request: Request, account: string): OpenRequest | null {
  const wanted = openSchema.safeParse(jsonBody(request))
  if (!wanted.success || !isCurrency(wanted.data.amount.currency)) return null
  const { data } = wanted
  if (!PROVIDERS.wallet_app.currencies.includes(wanted.data.amount.currency)) return null
  const amount = parseAmount(data.amount.value, wanted.data.amount.currency)
  if (!amount.ok) return null
  return {
    attemptId: data.merchant_order_ref,
    account,
    ...amount.money,
    method: 'banking_app',
    description: data.description,
    returnUrl: data.return_url,
    expiresAt: Math.floor(Date.parse(data.expires_at) / 1000),
  }
}

/** The signature covers method, path, account, time, nonce and body. */
function isAuthentic(request: Request, { account, secret }: ApiDeps): boolean {
  const timestamp = parseTimestamp(request.get('x-timestamp'))
  if (timestamp === null || !isInWindow(timestamp, Math.floor(Date.now() / 1000))) return false
  const signed = [
    'wallet-app-request',
    request.method,
    request.originalUrl,
    account,
    timestamp,
    request.get('x-nonce') ?? '',
    sha256Hex(rawBody(request)),
  ]
  return isSameSecret(request.get('x-signature') ?? '', hmacSha256(secret, signed.join('\n'), 'hex'))
}
