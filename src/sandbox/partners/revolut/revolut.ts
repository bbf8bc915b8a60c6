import { randomUUID } from 'node:crypto'
import { type Response, Router } from 'express'
import { z } from 'zod'
import { type Currency, isCurrency } from '../../../domain/currencies.ts'
import { PROVIDERS } from '../../../domain/methods.ts'
import type { FailureCode, OrderStatus } from '../../../domain/payment/partner.ts'
import { hmacSha256 } from '../../../partners/signature.ts'
import { isSameSecret } from '../../../runtime/constant-time.ts'
import { jsonBody, jsonReply, perform, type Reply, write } from '../answer.ts'
import type { OpenRequest, SandboxOrder, SandboxRefund } from '../order.ts'
import type { ApiDeps, Wire } from '../wire.ts'

/** Simulates Revolut's Merchant API: what src/partners/revolut uses of https://developer.revolut.com/docs/api/merchant. */

const DECLINE_REASONS: Readonly<Record<FailureCode, string>> = {
  declined: 'do_not_honour',
  insufficient_funds: 'insufficient_funds',
  verification_failed: 'customer_challenge_failed',
  abandoned: 'customer_challenge_abandoned',
  reversed: 'do_not_honour',
  partner_unavailable: 'technical_error',
}

const STATES: Readonly<Record<OrderStatus, string>> = {
  open: 'pending',
  verification_required: 'pending',
  confirming: 'processing',
  on_hold: 'processing',
  paid: 'completed',
  declined: 'failed',
  canceled: 'cancelled',
  expired: 'failed',
  refunded: 'completed',
}

const EVENTS: Readonly<Record<OrderStatus, string>> = {
  open: 'ORDER_PAYMENT_AUTHORISATION_STARTED',
  verification_required: 'ORDER_PAYMENT_AUTHENTICATION_CHALLENGED',
  confirming: 'ORDER_AUTHORISED',
  on_hold: 'ORDER_AUTHORISED',
  paid: 'ORDER_COMPLETED',
  declined: 'ORDER_PAYMENT_DECLINED',
  canceled: 'ORDER_CANCELLED',
  expired: 'ORDER_FAILED',
  refunded: 'ORDER_COMPLETED',
}

const isReversed = ({ status, failureCode }: SandboxOrder): boolean =>
  status === 'declined' && failureCode === 'reversed'

export const revolutWire: Wire = {
  provider: 'wallet_app',
  path: '/wallet-app',
  title: 'Pay with Revolut',
  newReference: randomUUID,
  routes,
  event(order) {
    // An event of a dispute has only the dispute's id. A refund is a separate order, with its own reference.
    if (isReversed(order)) return { event: 'DISPUTE_LOST', dispute_id: disputeId(order) }
    const reference = order.refunds.findLast(({ isDone }) => isDone)?.key ?? order.attemptId
    return { event: EVENTS[order.status], order_id: order.reference, merchant_order_ext_ref: reference }
  },
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    const time = `${now * 1000}`
    const signature = `v1=${hmacSha256(secret, `v1.${time}.${body}`, 'hex')}`
    return { body, headers: { 'revolut-request-timestamp': time, 'revolut-signature': signature } }
  },
}

const minor = z.int().min(1).max(999_999_999_999_999)
const currency = z.string().refine((text): text is Currency => isCurrency(text) && isCharged(text))
const isCharged = (text: Currency): boolean => PROVIDERS.wallet_app.currencies.includes(text)

const orderRequest = z.strictObject({
  amount: minor,
  currency,
  description: z.string().max(1024),
  expire_pending_after: z.string().regex(/^PT[1-9]\d{0,4}M$/),
  merchant_order_data: z.strictObject({ reference: z.string().min(1).max(1024) }),
  redirect_url: z.url({ protocol: /^https?$/ }),
})
const refundRequest = z.strictObject({
  amount: minor,
  currency,
  merchant_order_data: z.strictObject({ reference: z.string().min(1).max(1024) }),
})

const instant = z.iso.datetime({ precision: 3 })
const disputeQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500),
  from_created_date: instant,
  to_created_date: instant,
})

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  router.use('/api', (request, response, next) => {
    const isOurs = isSameSecret(request.get('authorization') ?? '', `Bearer ${deps.secret}`)
    if (!isOurs) write(response, problem(401, 'unauthenticated'))
    else if (request.get('revolut-api-version') === undefined) write(response, problem(400, 'bad_request'))
    else next()
  })
  router.post('/api/orders', async (request, response) => {
    const wanted = readOrder(jsonBody(request), deps)
    if (wanted === null) return write(response, problem(422, 'validation'))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, async () => {
      const opening = await book.open(wanted)
      if (opening.kind === 'conflict') return problem(409, 'conflict')
      return jsonReply(201, describe(deps, opening.order))
    })
  })
  router.get('/api/orders', async (request, response) => {
    const asked = request.query['merchant_order_data_reference']
    const reference = typeof asked === 'string' ? asked : ''
    await perform({ response, faults, operation: 'read', key: reference }, async () => {
      await book.sweep()
      const orders = (await book.list()).flatMap((order) =>
        order.attemptId === reference
          ? [describe(deps, order)]
          : order.refunds.filter(({ key }) => key === reference).map((refund) => describeRefund(order, refund)),
      )
      return jsonReply(200, { orders })
    })
  })
  router.get('/api/orders/:id', async (request, response) => {
    const isAsked = ({ key }: SandboxRefund): boolean => refundId(key) === request.params.id
    const refunded = (await book.list()).find(({ refunds }) => refunds.some(isAsked))
    const refund = refunded?.refunds.find(isAsked)
    if (refunded !== undefined && refund !== undefined)
      return write(response, jsonReply(200, describeRefund(refunded, refund)))
    return withOrder(deps, { id: request.params.id, response, operation: 'read' }, async (order) =>
      jsonReply(200, describe(deps, order)),
    )
  })
  router.post('/api/orders/:id/cancel', (request, response) =>
    withOrder(deps, { id: request.params.id, response, operation: 'cancel' }, async (order) => {
      if (STATES[order.status] !== 'pending') return problem(422, 'bad_state')
      const canceled = await book.cancel(order.attemptId)
      return canceled === null ? absent() : jsonReply(200, describe(deps, canceled))
    }),
  )
  router.post('/api/orders/:id/refund', (request, response) =>
    withOrder(deps, { id: request.params.id, response, operation: 'refund' }, async (order) => {
      const wanted = refundRequest.safeParse(jsonBody(request))
      if (!wanted.success) return problem(422, 'validation')
      const key = wanted.data.merchant_order_data.reference
      const done = await book.refund(order.attemptId, { key, minor: `${wanted.data.amount}` })
      if (done === null) return absent()
      if (done.kind === 'refused') return problem(422, 'insufficient_balance')
      const made = await book.find(order.attemptId)
      const refund = made?.refunds.find((one) => one.key === key)
      return refund === undefined ? absent() : jsonReply(201, describeRefund(order, refund))
    }),
  )
  disputeRoutes(router, deps)
  return router
}

function disputeRoutes(router: Router, { book }: ApiDeps): void {
  router.get('/api/disputes', async (request, response) => {
    const wanted = disputeQuery.safeParse(request.query)
    if (!wanted.success) return write(response, problem(400, 'bad_request'))
    const { limit, from_created_date: from, to_created_date: to } = wanted.data
    const disputes = (await book.list())
      .filter(isReversed)
      .map(describeDispute)
      .filter(({ created_at: at }) => at >= from && at <= to)
    write(response, jsonReply(200, disputes.slice(0, limit)))
  })
  router.get('/api/disputes/:id', async (request, response) => {
    const disputed = (await book.list()).find((order) => isReversed(order) && disputeId(order) === request.params.id)
    write(response, disputed === undefined ? absent() : jsonReply(200, describeDispute(disputed)))
  })
}

type Asked = { readonly id: string; readonly response: Response; readonly operation: 'read' | 'cancel' | 'refund' }

async function withOrder(
  { book, faults }: ApiDeps,
  { id, response, operation }: Asked,
  answer: (order: SandboxOrder) => Promise<Reply>,
): Promise<void> {
  const known = await book.findByReference(id)
  await perform({ response, faults, operation, key: known?.attemptId ?? '' }, async () => {
    const order = await book.findByReference(id)
    return order === null ? absent() : answer(order)
  })
}

function readOrder(body: unknown, { account, clock }: ApiDeps): OpenRequest | null {
  const wanted = orderRequest.safeParse(body)
  if (!wanted.success) return null
  const { data } = wanted
  return {
    attemptId: data.merchant_order_data.reference,
    account,
    minor: `${data.amount}`,
    currency: data.currency,
    method: 'banking_app',
    description: data.description,
    returnUrl: data.redirect_url,
    expiresAt: Math.floor(clock() / 1000) + Number.parseInt(data.expire_pending_after.slice(2), 10) * 60,
  }
}

const paymentId = ({ reference }: SandboxOrder): string => `pay-${reference}`
const refundId = (key: string): string => `refund-${key}`
const disputeId = ({ reference }: SandboxOrder): string => `dispute-${reference}`

const isTried = ({ status }: SandboxOrder): boolean => !['open', 'canceled', 'expired'].includes(status)

function describe(deps: ApiDeps, order: SandboxOrder): object {
  const isPaid = order.status === 'paid' || order.status === 'refunded' || isReversed(order)
  const failed = order.status === 'declined' && !isReversed(order)
  const reason = failed ? { decline_reason: DECLINE_REASONS[order.failureCode ?? 'declined'] } : {}
  const payment = { id: paymentId(order), state: isPaid ? 'captured' : failed ? 'declined' : 'pending', ...reason }
  const received = Number(order.receivedMinor ?? order.minor)
  const refunded = order.status === 'refunded' ? Number(order.minor) : Number(order.minor) - received
  return {
    id: order.reference,
    type: 'payment',
    state: isReversed(order) ? 'completed' : STATES[order.status],
    amount: Number(order.minor),
    currency: order.currency,
    ...(isPaid && refunded > 0 && { refunded_amount: refunded }),
    ...(isTried(order) && { payments: [payment] }),
    merchant_order_data: { reference: order.attemptId },
    checkout_url: deps.pageUrl(order),
  }
}

function describeRefund(order: SandboxOrder, { key, minor, isDone }: SandboxRefund): object {
  return {
    id: refundId(key),
    type: 'refund',
    state: isDone ? 'completed' : 'processing',
    amount: Number(minor),
    currency: order.currency,
    related_order_id: order.reference,
    merchant_order_data: { reference: key },
  }
}

function describeDispute(order: SandboxOrder) {
  return {
    id: disputeId(order),
    created_at: new Date(order.openedAt + 1).toISOString(),
    state: 'lost',
    amount: Number(order.minor),
    currency: order.currency,
    payment: { id: paymentId(order), order_id: order.reference },
  }
}

const absent = (): Reply => problem(404, 'not_found')

const problem = (status: number, code: string): Reply => jsonReply(status, { code, timestamp: Date.now() })
