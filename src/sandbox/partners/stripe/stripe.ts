import { randomBytes } from 'node:crypto'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { isCurrency } from '../../../domain/currencies.ts'
import type { ProviderName } from '../../../domain/methods.ts'
import { hmacSha256 } from '../../../partners/signature.ts'
import { isSameSecret } from '../../../runtime/constant-time.ts'
import { formBody, jsonReply, perform, type Reply, rawBody, write } from '../answer.ts'
import type { OpenRequest, SandboxOrder } from '../order.ts'
import type { ApiDeps, Wire } from '../wire.ts'
import { evidenceRoutes } from './evidence.ts'
import {
  announcement,
  disputePage,
  disputes,
  expandedSession,
  findSessionId,
  fromWire,
  refunds,
  SESSION_ID,
  session,
} from './objects.ts'

/** Simulates Stripe Checkout: what src/partners/stripe uses of https://docs.stripe.com/api. */
export const stripeWire = (provider: ProviderName, path: string): Wire => ({
  provider,
  path,
  title: 'Checkout',
  newReference: () => `${SESSION_ID}${randomBytes(12).toString('hex')}`,
  routes,
  event(order, { eventId, at }) {
    const { type, object } = announcement(order)
    const created = Math.floor(at / 1000)
    return z
      .record(z.string(), z.json())
      .parse({ id: eventId, object: 'event', type, created, livemode: false, data: { object } })
  },
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    return { body, headers: { 'stripe-signature': `t=${now},v1=${hmacSha256(secret, `${now}.${body}`, 'hex')}` } }
  },
})

const EXPANDED = { 'expand[0]': z.string(), 'expand[1]': z.string() }
const sessionForm = z.strictObject({
  mode: z.literal('payment'),
  'payment_method_types[0]': z.enum(['card', 'link', 'revolut_pay']),
  'line_items[0][quantity]': z.literal('1'),
  'line_items[0][price_data][currency]': z.string().regex(/^[a-z]{3}$/),
  'line_items[0][price_data][unit_amount]': z.string().regex(/^[1-9]\d{0,11}$/),
  'line_items[0][price_data][product_data][name]': z.string().min(1).max(250),
  client_reference_id: z.string().min(1).max(200),
  'payment_intent_data[metadata][attempt]': z.string().min(1).max(500),
  success_url: z.url({ protocol: /^https?$/ }),
  cancel_url: z.url({ protocol: /^https?$/ }),
  expires_at: z.string().regex(/^[1-9]\d{9}$/),
  'adaptive_pricing[enabled]': z.literal('false'),
  ...EXPANDED,
})
const refundForm = z.strictObject({
  payment_intent: z.string().regex(/^pi_\w+$/),
  amount: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .optional(),
  'metadata[key]': z.string().max(500),
})

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults } = deps
  const replay = createReplays()
  const describe = (order: SandboxOrder): object => expandedSession(order, deps.pageUrl(order))
  router.use('/v1', (request, response, next) => {
    const isOurs = isSameSecret(request.get('authorization') ?? '', `Bearer ${deps.secret}`)
    if (!isOurs) write(response, problem(401, { type: 'invalid_request_error' }))
    else if (request.get('stripe-version') === undefined)
      write(response, problem(400, { type: 'invalid_request_error', param: 'Stripe-Version' }))
    else next()
  })
  router.get('/v1/account', (_request, response) =>
    perform({ response, faults, operation: 'read', key: '' }, async () =>
      jsonReply(200, { id: deps.account, object: 'account' }),
    ),
  )
  router.post('/v1/checkout/sessions', async (request, response) => {
    const wanted = readSession(request, deps.account)
    if (wanted === null || request.get('idempotency-key') === undefined)
      return write(response, problem(400, { type: 'invalid_request_error', code: 'parameter_invalid' }))
    await perform({ response, faults, operation: 'open', key: wanted.attemptId }, () => open(deps, wanted))
  })
  router.get('/v1/checkout/sessions/:id', async (request, response) => {
    const known = await book.findByReference(request.params.id)
    await perform({ response, faults, operation: 'read', key: known?.attemptId ?? '' }, async () => {
      const order = await book.findByReference(request.params.id)
      return order === null ? absent() : jsonReply(200, describe(order))
    })
  })
  router.post('/v1/checkout/sessions/:id/expire', async (request, response) => {
    const known = await book.findByReference(request.params.id)
    await perform({ response, faults, operation: 'cancel', key: known?.attemptId ?? '' }, async () => {
      if (known === null) return absent()
      if (session(known)['status'] !== 'open') return problem(400, { type: 'invalid_request_error' })
      const order = await book.cancel(known.attemptId)
      return order === null ? absent() : jsonReply(200, describe(order))
    })
  })
  router.post('/v1/refunds', async (request, response) => {
    const wanted = refundForm.safeParse(formBody(request))
    if (!wanted.success)
      return write(response, problem(400, { type: 'invalid_request_error', code: 'parameter_invalid' }))
    const order = await book.findByReference(findSessionId(wanted.data.payment_intent))
    await perform({ response, faults, operation: 'refund', key: order?.attemptId ?? '' }, () =>
      replay(request, () => refund(deps, order, { key: wanted.data['metadata[key]'], amount: wanted.data.amount })),
    )
  })
  router.get('/v1/refunds', async (request, response) => {
    const order = await book.findByReference(findSessionId(readQuery(request).get('payment_intent') ?? ''))
    write(response, order === null ? absent() : jsonReply(200, refunds(order)))
  })
  router.get('/v1/disputes', async (request, response) => {
    const query = readQuery(request)
    const payment = query.get('payment_intent')
    if (payment === null) {
      const [since, limit] = [Number(query.get('created[gte]')), Number(query.get('limit'))]
      const page = disputePage(await book.list(), { since, limit, after: query.get('starting_after') })
      return write(response, jsonReply(200, page))
    }
    const order = await book.findByReference(findSessionId(payment))
    write(response, order === null ? absent() : jsonReply(200, disputes(order)))
  })
  const refuse = (code: string) => problem(400, { type: 'invalid_request_error', code })
  evidenceRoutes(router, deps, { replay, absent, refuse })
  return router
}

const readQuery = ({ url }: Request): URLSearchParams => new URL(url, 'http://sandbox').searchParams

async function open(deps: ApiDeps, wanted: OpenRequest): Promise<Reply> {
  const opening = await deps.book.open(wanted)
  if (opening.kind === 'conflict') return problem(400, { type: 'idempotency_error' })
  const { order } = opening
  if (opening.kind === 'opened') return jsonReply(200, expandedSession(asOpened(order), deps.pageUrl(order)))
  const code = order.failureCode === 'insufficient_funds' ? 'insufficient_funds' : 'generic_decline'
  return problem(402, { type: 'card_error', code: 'card_declined', decline_code: code })
}

/** A repeated opening gets the answer of the first one, whatever has changed since. */
const asOpened = (order: SandboxOrder): SandboxOrder => ({ ...order, status: 'open', failureCode: null, refunds: [] })

async function refund(
  { book }: ApiDeps,
  order: SandboxOrder | null,
  { key, amount }: { readonly key: string; readonly amount: string | undefined },
): Promise<Reply> {
  if (order === null) return absent()
  const minor = amount === undefined ? undefined : fromWire(amount, order.currency)
  const done = await book.refund(order.attemptId, { key, minor })
  if (done === null) return absent()
  if (done.kind === 'refused') {
    const code = done.reason === 'already refunded' ? 'charge_already_refunded' : 'balance_insufficient'
    return problem(400, { type: 'invalid_request_error', code })
  }
  const made = await book.find(order.attemptId)
  return made === null ? absent() : jsonReply(200, refunds(made).data.at(-1))
}

/** Repeats the first answer for an idempotency key, whatever has changed since, and refuses the key for other content. */
function createReplays() {
  const known = new Map<string, { readonly body: string; readonly reply: Reply }>()
  return async (request: Request, effect: () => Promise<Reply>): Promise<Reply> => {
    const key = request.get('idempotency-key') ?? ''
    if (key === '') return problem(400, { type: 'invalid_request_error', code: 'idempotency_key_missing' })
    const [body, first] = [rawBody(request), known.get(key)]
    if (first !== undefined && first.body !== body) return problem(400, { type: 'idempotency_error' })
    const reply = first?.reply ?? (await effect())
    known.set(key, { body, reply })
    return reply
  }
}

function readSession(request: Request, account: string): OpenRequest | null {
  const wanted = sessionForm.safeParse(formBody(request))
  if (!wanted.success) return null
  const { data } = wanted
  const currency = data['line_items[0][price_data][currency]'].toUpperCase()
  if (!isCurrency(currency)) return null
  return {
    attemptId: data.client_reference_id,
    account,
    minor: fromWire(data['line_items[0][price_data][unit_amount]'], currency),
    currency,
    method: data['payment_method_types[0]'],
    description: data['line_items[0][price_data][product_data][name]'],
    returnUrl: data.success_url,
    expiresAt: Number(data.expires_at),
  }
}

const absent = (): Reply => problem(404, { type: 'invalid_request_error', code: 'resource_missing' })

type StripeError = {
  readonly type: string
  readonly code?: string
  readonly decline_code?: string
  readonly param?: string
}

const problem = (status: number, error: StripeError): Reply => jsonReply(status, { error })
