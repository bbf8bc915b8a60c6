import { randomBytes } from 'node:crypto'
import { Router } from 'express'
import { z } from 'zod'
import { type Currency, isCurrency } from '../../../src/domain/currencies.ts'
import type { OrderStatus } from '../../../src/domain/payment/partner.ts'
import { hmacSha256 } from '../../../src/partners/signature.ts'
import { jsonBody, jsonReply, perform, type Reply, write } from '../../../src/sandbox/partners/answer.ts'
import type { SandboxOrder } from '../../../src/sandbox/partners/order.ts'
import type { ApiDeps, Wire } from '../../../src/sandbox/partners/wire.ts'
import type { Order } from './wire.ts'

const PHASES: Readonly<Record<OrderStatus, Order['phase']>> = {
  open: 'waiting',
  verification_required: 'requires_identity',
  confirming: 'settling',
  on_hold: 'held',
  paid: 'paid',
  declined: 'refused',
  canceled: 'left',
  expired: 'lapsed',
  refunded: 'returned',
}

export const kestrelWire: Wire = {
  provider: 'wallet_app',
  path: '/wallet-app',
  title: 'Kestrel Pay',
  newReference: () => `K-${randomBytes(6).toString('hex')}`,
  routes,
  event: (order, { eventId }) =>
    z.record(z.string(), z.json()).parse({ event: eventId, order: describe(order, 'http://127.0.0.1:9/') }),
  sign(event, { secret, now }) {
    const body = JSON.stringify(event)
    return { body, headers: { 'kestrel-proof': `${now} ${hmacSha256(secret, `${now}\n${body}`, 'hex')}` } }
  },
}

const orderRequest = z.strictObject({
  ref: z.string().min(1),
  price: z.string().regex(/^[1-9]\d{0,14}$/),
  currency: z.string().refine((text): text is Currency => isCurrency(text)),
  about: z.string().max(100),
  back: z.url(),
  until: z.int(),
})
const returnRequest = z.strictObject({ key: z.string(), price: orderRequest.shape.price.nullable() })

function routes(deps: ApiDeps): Router {
  const router = Router()
  const { book, faults, account } = deps
  const shown = (order: SandboxOrder | null): Reply =>
    order === null ? problem(404, 'no_order') : jsonReply(200, describe(order, deps.pageUrl(order)))
  router.use('/kestrel', (request, response, next) => {
    const isOurs = request.get('authorization') === `Token ${deps.secret}`
    if (isOurs && request.get('kestrel-customer') === account) next()
    else write(response, problem(401, 'unknown_customer'))
  })
  router.post('/kestrel/orders', async (request, response) => {
    const wanted = orderRequest.safeParse(jsonBody(request))
    if (!wanted.success) return write(response, problem(400, 'wrong_request'))
    const { ref, price, currency, about, back, until } = wanted.data
    await perform({ response, faults, operation: 'open', key: ref }, async () => {
      const order = { attemptId: ref, account, minor: price, currency, method: 'banking_app' }
      const opening = await book.open({ ...order, description: about, returnUrl: back, expiresAt: until })
      if (opening.kind === 'conflict') return problem(409, 'other_order')
      return opening.kind === 'opened' ? shown(opening.order) : problem(422, 'refused', opening.order.failureCode)
    })
  })
  router.get('/kestrel/orders/:ref', (request, response) =>
    perform({ response, faults, operation: 'read', key: request.params.ref }, async () =>
      shown(await book.find(request.params.ref)),
    ),
  )
  router.post('/kestrel/orders/:ref/leave', (request, response) =>
    perform({ response, faults, operation: 'cancel', key: request.params.ref }, async () =>
      shown(await book.cancel(request.params.ref)),
    ),
  )
  router.post('/kestrel/orders/:ref/return', (request, response) =>
    perform({ response, faults, operation: 'refund', key: request.params.ref }, async () => {
      const { key, price } = returnRequest.parse(jsonBody(request))
      const done = await book.refund(request.params.ref, { key, minor: price ?? undefined })
      if (done === null) return problem(404, 'no_order')
      if (done.kind === 'refused') return jsonReply(200, { state: 'refused', why: done.reason })
      return jsonReply(200, { state: done.kind === 'done' ? 'done' : 'queued', why: null })
    }),
  )
  router.get('/kestrel/orders/:ref/return', (request, response) =>
    perform({ response, faults, operation: 'read', key: request.params.ref }, async () => {
      const known = (await book.find(request.params.ref))?.refunds.find(({ key }) => key === request.query['key'])
      return known === undefined
        ? problem(404, 'no_return')
        : jsonReply(200, { state: known.isDone ? 'done' : 'queued', why: null })
    }),
  )
  return router
}

const describe = (order: SandboxOrder, page: string): Order => ({
  number: order.reference,
  ref: order.attemptId,
  customer: order.account,
  phase: PHASES[order.status],
  price: order.minor,
  currency: order.currency,
  got: order.receivedMinor,
  why: order.failureCode,
  page,
})

const problem = (status: number, name: string, why: string | null = null): Reply =>
  jsonReply(status, { problem: name, why })
