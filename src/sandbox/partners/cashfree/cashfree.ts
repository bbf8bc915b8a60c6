import { randomInt } from 'node:crypto'
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

/**
 * Simulates Cashfree's Payment Gateway: what src/partners/cashfree uses of
 * https://www.cashfree.com/docs/api-reference/payments/latest.
 */

const ERRORS: Readonly<Record<FailureCode, readonly [reason: string, source: string]>> = {
  declined: ['bank_rejected', 'bank'],
  insufficient_funds: ['insufficient_funds', 'customer'],
  verification_failed: ['bank_rejected', 'bank'],
  abandoned: ['user_dropped', 'customer'],
  reversed: ['bank_rejected', 'bank'],
  partner_unavailable: ['processing_failure', 'cashfree'],
}

const isReversed = ({ status, failureCode }: SandboxOrder): boolean =>
  status === 'declined' && failureCode === 'reversed'

const hasMoney = (order: SandboxOrder): boolean =>
  order.status === 'paid' || order.status === 'refunded' || isReversed(order)

export const cashfreeWire: Wire = {
  provider: 'local_partner',
  path: '/local-partner',
  title: 'UPI payment',
  newReference: () => `${randomInt(1e9, 1e10)}${randomInt(1e9, 1e10)}`,
  routes,
  event(order, { at }) {
    const { type, data } = announce(order)
    return z.record(z.string(), z.json()).parse({ type, data, event_time: new Date(at).toISOString() })
  },
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    const time = `${now * 1000}`
    return {
      body,
      headers: {
        'x-webhook-timestamp': time,
        'x-webhook-signature': hmacSha256(secret, `${time}${body}`, 'base64'),
      },
    }
  },
}

function announce(order: SandboxOrder): { readonly type: string; readonly data: object } {
  const about = { order_id: order.attemptId, order_amount: toRupees(order.minor), order_currency: 'INR' }
  if (isReversed(order)) return { type: 'DISPUTE_CLOSED', data: { dispute: dispute(order), order_details: about } }
  if (order.status === 'refunded') return { type: 'REFUND_STATUS_WEBHOOK', data: { refund: refunds(order).at(-1) } }
  const types: Readonly<Record<string, string>> = { SUCCESS: 'SUCCESS', FAILED: 'FAILED', USER_DROPPED: 'USER_DROPPED' }
  const tried = payment(order)
  const type = `PAYMENT_${types[tried.payment_status] ?? 'SUCCESS'}_WEBHOOK`
  return { type, data: { order: about, payment: tried } }
}

const orderRequest = z.strictObject({
  order_id: z.string().regex(/^[\w-]{3,45}$/),
  order_amount: z.number().gt(0).multipleOf(0.01),
  order_currency: z.literal('INR'),
  order_note: z.string().max(200),
  order_expiry_time: z.iso.datetime(),
  customer_details: z.strictObject({
    customer_id: z.string().min(3).max(50),
    customer_phone: z.string().regex(/^[6-9]\d{9}$/),
  }),
})
const sessionRequest = z.strictObject({
  payment_session_id: z.string(),
  payment_method: z.strictObject({ upi: z.strictObject({ channel: z.literal('link') }) }),
})
const refundRequest = z.strictObject({
  refund_id: z.string().regex(/^[\w-]{3,40}$/),
  refund_amount: z.number().gt(0),
})

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  router.use('/pg', (request, response, next) => {
    const isOurs =
      request.get('x-client-id') === deps.account && isSameSecret(request.get('x-client-secret') ?? '', deps.secret)
    if (!isOurs) write(response, problem(401, 'authentication_failed'))
    else if (request.get('x-api-version') === undefined) write(response, problem(400, 'version_missing'))
    else next()
  })
  router.post('/pg/orders', async (request, response) => {
    const wanted = readOrder(jsonBody(request), deps.account)
    if (wanted === null) return write(response, problem(400, 'order_invalid'))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, async () => {
      if ((await book.find(wanted.attemptId)) !== null) return problem(409, 'order_already_exists')
      const opening = await book.open(wanted)
      return opening.kind === 'conflict'
        ? problem(409, 'order_already_exists')
        : jsonReply(200, describe(opening.order))
    })
  })
  router.post('/pg/orders/sessions', async (request, response) => {
    const wanted = sessionRequest.safeParse(jsonBody(request))
    const order = wanted.success ? await findBySession(deps, wanted.data.payment_session_id) : null
    write(response, order === null ? problem(404, 'orderpay_not_found') : jsonReply(200, describeSession(order)))
  })
  router.get('/pg/orders/:id', (request, response) =>
    withOrder(deps, { attemptId: request.params.id, response, operation: 'read' }, async (order) =>
      jsonReply(200, describe(order)),
    ),
  )
  router.patch('/pg/orders/:id', (request, response) =>
    withOrder(deps, { attemptId: request.params.id, response, operation: 'cancel' }, async (order) => {
      if (getOrderStatus(order) !== 'ACTIVE') return problem(400, 'order_not_active')
      const ended = await book.cancel(order.attemptId)
      return ended === null ? absent() : jsonReply(200, describe(ended))
    }),
  )
  for (const [part, list] of [
    ['payments', (order: SandboxOrder) => (isTried(order) ? [payment(order)] : [])],
    ['refunds', refunds],
    ['disputes', (order: SandboxOrder) => (isReversed(order) ? [dispute(order)] : [])],
  ] as const)
    router.get(`/pg/orders/:id/${part}`, async (request, response) => {
      const order = await book.find(request.params.id)
      write(response, order === null ? absent() : jsonReply(200, list(order)))
    })
  router.post('/pg/orders/:id/refunds', (request, response) =>
    withOrder(deps, { attemptId: request.params.id, response, operation: 'refund' }, async (order) => {
      const wanted = refundRequest.safeParse(jsonBody(request))
      if (!wanted.success) return problem(400, 'refund_invalid')
      const { refund_id: key, refund_amount: amount } = wanted.data
      const done = await book.refund(order.attemptId, { key, minor: toPaise(amount) })
      if (done === null) return absent()
      if (done.kind === 'refused') return problem(400, 'insufficient_balance')
      const made = await book.find(order.attemptId)
      return made === null ? absent() : jsonReply(200, refunds(made).at(-1))
    }),
  )
  return router
}

type Asked = { readonly attemptId: string; readonly response: Response; readonly operation: Operation }

async function withOrder(
  { book, faults }: ApiDeps,
  { attemptId, response, operation }: Asked,
  answer: (order: SandboxOrder) => Promise<Reply>,
): Promise<void> {
  await perform({ response, faults, operation, key: attemptId }, async () => {
    const order = await book.find(attemptId)
    return order === null ? absent() : answer(order)
  })
}

function readOrder(body: unknown, account: string): OpenRequest | null {
  const wanted = orderRequest.safeParse(body)
  if (!wanted.success) return null
  const { data } = wanted
  return {
    attemptId: data.order_id,
    account,
    minor: toPaise(data.order_amount),
    currency: 'INR',
    method: 'upi',
    description: data.order_note,
    // A UPI app does not send the buyer back.
    returnUrl: 'http://127.0.0.1:9/',
    expiresAt: Math.floor(Date.parse(data.order_expiry_time) / 1000),
  }
}

const SESSION = 'session_'

async function findBySession({ book }: ApiDeps, session: string): Promise<SandboxOrder | null> {
  const order = await book.findByReference(session.slice(SESSION.length))
  return order !== null && getOrderStatus(order) === 'ACTIVE' ? order : null
}

/** Cashfree sends and takes JSON numbers. */
const toPaise = (rupees: number): string => Math.round(rupees * 100).toString()
const toRupees = (minor: string): number => Number(formatAmount({ minor, currency: 'INR' }))

function getOrderStatus({ status, failureCode }: SandboxOrder): string {
  if (status === 'paid' || status === 'refunded' || failureCode === 'reversed') return 'PAID'
  if (status === 'canceled') return 'TERMINATED'
  return status === 'expired' || status === 'declined' ? 'EXPIRED' : 'ACTIVE'
}

const isTried = ({ status }: SandboxOrder): boolean =>
  !['open', 'verification_required', 'canceled', 'expired'].includes(status)

function describe(order: SandboxOrder): object {
  return {
    cf_order_id: order.reference,
    entity: 'order',
    order_id: order.attemptId,
    order_amount: toRupees(order.minor),
    order_currency: 'INR',
    order_status: getOrderStatus(order),
    order_expiry_time: new Date(order.expiresAt * 1000).toISOString(),
    payment_session_id: `${SESSION}${order.reference}`,
  }
}

function describeSession(order: SandboxOrder): object {
  const amount = formatAmount({ minor: order.minor, currency: 'INR' })
  const query = `pa=cashfree.sandbox@indus&pn=Pinrail&tr=${paymentId(order)}&am=${amount}&cu=INR&mode=00&mc=5815&tn=Payment`
  return {
    action: 'custom',
    channel: 'link',
    payment_method: 'upi',
    cf_payment_id: paymentId(order),
    payment_amount: toRupees(order.minor),
    data: { url: null, payload: { default: `upi://pay?${query}`, gpay: `tez://upi/pay?${query}` } },
  }
}

const paymentId = ({ reference }: SandboxOrder): string => reference.slice(0, 10)

function payment(order: SandboxOrder) {
  const isFailed = order.status === 'declined' && !isReversed(order)
  const [reason, source] = ERRORS[order.failureCode ?? 'declined']
  const status = hasMoney(order)
    ? 'SUCCESS'
    : isFailed
      ? order.failureCode === 'abandoned'
        ? 'USER_DROPPED'
        : 'FAILED'
      : 'PENDING'
  return {
    cf_payment_id: paymentId(order),
    entity: 'payment',
    order_id: order.attemptId,
    payment_status: status,
    payment_amount: toRupees(countPaid(order).toString()),
    payment_currency: 'INR',
    payment_group: 'upi',
    error_details: isFailed ? { error_code: 'TRANSACTION_DECLINED', error_reason: reason, error_source: source } : null,
  }
}

function refunds(order: SandboxOrder): object[] {
  return order.refunds.map(({ key, minor, isDone }, place) => ({
    cf_refund_id: `${order.reference.slice(0, 9)}${place}`,
    entity: 'Refund',
    order_id: order.attemptId,
    refund_id: key,
    refund_amount: toRupees(minor),
    refund_currency: 'INR',
    refund_status: isDone ? 'SUCCESS' : 'PENDING',
    status_description: null,
  }))
}

function dispute(order: SandboxOrder): object {
  return {
    dispute_id: Number(order.reference.slice(0, 9)),
    dispute_type: 'CHARGEBACK',
    dispute_status: 'CHARGEBACK_MERCHANT_LOST',
    dispute_amount: toRupees(order.receivedMinor ?? order.minor),
    order_details: { order_id: order.attemptId, cf_payment_id: Number(paymentId(order)) },
  }
}

const absent = (): Reply => problem(404, 'order_not_found')

const problem = (status: number, code: string): Reply =>
  jsonReply(status, { message: code, code, type: status === 401 ? 'authentication_error' : 'invalid_request_error' })
