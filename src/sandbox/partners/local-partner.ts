import { randomBytes } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { formatAmount } from '../../domain/money.ts'
import type { FailureCode, OrderStatus } from '../../domain/payment/partner.ts'
import { hmacSha256, isInWindow } from '../../partners/signature.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { jsonBody, jsonReply, perform, type Reply, rawBody, write } from './answer.ts'
import type { Operation } from './faults.ts'
import type { SandboxOrder } from './order.ts'
import type { ApiDeps, Wire } from './wire.ts'

/** Simulates the Indian partner: docs/providers.md, "Local partner". */

/** It has no state for a canceled order: a buyer who leaves is a failure with code ZA. */
const STATE_NAMES: Readonly<Record<OrderStatus, string>> = {
  open: 'INITIATED',
  verification_required: 'KYC_PENDING',
  confirming: 'DEBIT_PENDING',
  on_hold: 'RISK_HOLD',
  paid: 'SUCCESS',
  declined: 'FAILURE',
  canceled: 'FAILURE',
  expired: 'LAPSED',
  refunded: 'REFUNDED',
}

const FAIL_CODES: Readonly<Record<FailureCode, string>> = {
  declined: 'U30',
  insufficient_funds: 'Z9',
  verification_failed: 'KX',
  abandoned: 'ZA',
  reversed: 'RR',
  partner_unavailable: 'XB',
}

/** The merchant's UPI address and category at this partner (5815: digital goods). */
const PAYEE = { pa: 'pinrail@sandbox', pn: 'Pinrail', mc: '5815' }

/** UPI apps show a note of at most this length. */
const NOTE_CHARACTERS = 50

const common = { mid: z.string(), ts: z.int(), txn_ref: z.string().min(1).max(100) }
const createSchema = z.strictObject({
  ...common,
  mode: z.enum(['UPI_INTENT', 'CARD', 'BANK_TRANSFER']),
  amount_paise: z.int().min(1),
  note: z.string().max(400),
  redirect_url: z.url({ protocol: /^https?$/ }),
  valid_till: z.int().min(1),
})
const statusSchema = z.strictObject(common)
const refundStatusSchema = z.strictObject({ ...common, refund_ref: z.string().min(1).max(200) })
const refundSchema = refundStatusSchema.extend({ amount_paise: z.int().min(1).optional() })

export const localPartner: Wire = {
  provider: 'local_partner',
  path: '/local-partner',
  title: 'UPI payment',
  newReference: () => `LP${randomBytes(10).toString('hex').toUpperCase()}`,
  routes,
  event: (order, { eventId }) => ({ evt: 'TXN_STATUS', evt_id: eventId, mid: order.account, txn: summary(order) }),
  sign(event, { secret, now }) {
    // The body contains the time, so it differs each time it is sent.
    const body = JSON.stringify({ ...event, ts: now })
    return { body, headers: { 'x-checksum': hmacSha256(secret, body, 'base64') } }
  },
}

function routes(deps: ApiDeps): Router {
  const router = Router()
  router.post('/txn/create', (request, response) =>
    handle(deps, { request, response, operation: 'open', schema: createSchema }, async (fields) => {
      const opening = await deps.book.open({
        attemptId: fields.txn_ref,
        account: fields.mid,
        minor: fields.amount_paise.toString(),
        currency: 'INR',
        method: fields.mode,
        description: fields.note,
        returnUrl: fields.redirect_url,
        expiresAt: fields.valid_till,
      })
      if (opening.kind === 'conflict') return { resp_code: 'DUPLICATE_REF' }
      if (opening.kind === 'opened') return { resp_code: 'OK', txn: describe(deps, opening.order) }
      const code = opening.order.failureCode ?? 'declined'
      return { resp_code: code === 'declined' ? 'DECLINED' : FAIL_CODES[code] }
    }),
  )
  router.post('/txn/status', (request, response) =>
    handle(deps, { request, response, operation: 'read', schema: statusSchema }, async (fields) => {
      const order = await deps.book.find(fields.txn_ref)
      return order === null ? { resp_code: 'NOT_FOUND' } : { resp_code: 'OK', txn: describe(deps, order) }
    }),
  )
  router.post('/txn/refund', (request, response) =>
    handle(deps, { request, response, operation: 'refund', schema: refundSchema }, async (fields) => {
      const done = await deps.book.refund(fields.txn_ref, {
        key: fields.refund_ref,
        minor: fields.amount_paise?.toString(),
      })
      if (done === null) return { resp_code: 'NOT_FOUND' }
      return describeRefund(fields.refund_ref, done.kind, done.kind === 'refused' ? done.reason : '')
    }),
  )
  router.post('/txn/refund/status', (request, response) =>
    handle(deps, { request, response, operation: 'read', schema: refundStatusSchema }, async (fields) => {
      const known = (await deps.book.find(fields.txn_ref))?.refunds.find(({ key }) => key === fields.refund_ref)
      if (known === undefined) return { resp_code: 'NOT_FOUND' }
      return describeRefund(fields.refund_ref, known.isDone ? 'done' : 'pending')
    }),
  )
  return router
}

function describeRefund(key: string, kind: 'done' | 'pending' | 'refused', remarks = ''): object {
  const state = { done: 'DONE', pending: 'QUEUED', refused: 'REJECTED' }[kind]
  return { resp_code: 'OK', refund: { refund_ref: key, state, remarks } }
}

type Handling<Schema> = {
  readonly request: Request
  readonly response: Response
  readonly operation: Operation
  readonly schema: Schema
}

/** Verifies the checksum before the body is parsed, and adds one to the answer. */
async function handle<Schema extends z.ZodType<{ mid: string; ts: number; txn_ref: string }>>(
  deps: ApiDeps,
  { request, response, operation, schema }: Handling<Schema>,
  effect: (fields: z.infer<Schema>) => Promise<object>,
): Promise<void> {
  const expected = hmacSha256(deps.secret, rawBody(request), 'base64')
  if (!isSameSecret(request.get('x-checksum') ?? '', expected)) return write(response, jsonReply(401, {}))
  const parsed = schema.safeParse(jsonBody(request))
  if (!parsed.success) return write(response, signed(deps, { resp_code: 'BAD_REQUEST' }))
  const fields = parsed.data
  if (fields.mid !== deps.account || !isInWindow(fields.ts, Math.floor(Date.now() / 1000)))
    return write(response, signed(deps, { resp_code: 'AUTH' }))
  await perform({ response, faults: deps.faults, operation, key: fields.txn_ref }, async () =>
    signed(deps, await effect(fields)),
  )
}

function signed(deps: ApiDeps, answer: object): Reply {
  const reply = jsonReply(200, answer)
  return { ...reply, headers: { 'x-checksum': hmacSha256(deps.secret, reply.body, 'base64') } }
}

function summary(order: SandboxOrder) {
  return {
    mid: order.account,
    txn_ref: order.attemptId,
    order_no: order.reference,
    state: order.failureCode === 'reversed' ? 'REVERSED' : STATE_NAMES[order.status],
    amount_paise: Number(order.minor),
    credited_paise: Number(order.receivedMinor ?? '0'),
    fail_code: getFailCode(order),
  }
}

function getFailCode(order: SandboxOrder): string {
  if (order.status === 'canceled') return FAIL_CODES.abandoned
  return order.failureCode === null ? '' : FAIL_CODES[order.failureCode]
}

function describe(deps: ApiDeps, order: SandboxOrder): object {
  const intent = order.method === 'UPI_INTENT' ? intentLink(order) : ''
  return { ...summary(order), page_url: deps.pageUrl(order), intent }
}

/** Fields of the NPCI's UPI linking specification 1.6; blanks are %20, because UPI apps do not read `+` as a blank. */
function intentLink(order: SandboxOrder): string {
  const note = Array.from(order.description).slice(0, NOTE_CHARACTERS).join('')
  const fields = { ...PAYEE, tr: order.reference, tn: note, am: formatAmount(order), cu: 'INR' }
  const query = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `upi://pay?${query.join('&')}`
}
