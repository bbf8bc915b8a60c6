import { randomBytes } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { formBody } from '../answer.ts'
import type { SandboxOrder } from '../order.ts'
import type { ActRequest, OrderBook } from '../order-book.ts'
import type { Wire } from '../wire.ts'
import { absentPage, orderPage, refusedPage } from './pages.ts'

const BUYER_COOKIE = 'sandbox_buyer'
const COOKIE_SECONDS = 365 * 86_400
const SLOW_SECONDS = 60

export type BuyerDeps = { readonly wire: Wire; readonly book: OrderBook }

/** The pages on which a buyer pays. GET changes nothing; every step is a POST of a form. */
export function buyerRoutes(deps: BuyerDeps): Router {
  const { wire, book } = deps
  const router = Router()
  router.get('/pay/:reference', async (request, response) => {
    const order = await book.findByReference(request.params.reference)
    if (order === null) return sendPage(response, { status: 404, body: absentPage(wire) })
    sendPage(response, { status: 200, body: orderPage(wire, order), order })
  })
  router.post('/pay/:reference', async (request, response) => {
    const order = await book.findByReference(request.params.reference)
    if (order === null) return sendPage(response, { status: 404, body: absentPage(wire) })
    await submit(deps, { request, response, order })
  })
  // Replaces a phone's UPI app. It takes the query of the upi://pay link.
  router.get('/upi/pay', async (request, response) => {
    const reference = typeof request.query['tr'] === 'string' ? request.query['tr'] : ''
    const order = await book.findByReference(reference)
    if (order === null) return sendPage(response, { status: 404, body: absentPage(wire) })
    response.redirect(303, `../pay/${encodeURIComponent(reference)}`)
  })
  return router
}

type Submission = { readonly request: Request; readonly response: Response; readonly order: SandboxOrder }

async function submit({ wire, book }: BuyerDeps, { request, response, order }: Submission): Promise<void> {
  const form = formBody(request)
  const buyer = readBuyer(request, form) ?? `buyer_${randomBytes(12).toString('hex')}`
  const act = readAct(form['action'] ?? '', { order, buyer })
  if (act === null) return sendPage(response, { status: 400, body: orderPage(wire, order), order })
  const result = await book.act(order.attemptId, act)
  if (result === null) return sendPage(response, { status: 404, body: absentPage(wire) })
  if (result.kind === 'refused') {
    const body = refusedPage(wire, result.order)
    return sendPage(response, { status: 409, body, order: result.order })
  }
  response.cookie(BUYER_COOKIE, buyer, { httpOnly: true, sameSite: 'lax', maxAge: COOKIE_SECONDS * 1000, path: '/' })
  const isAsked = result.order.status === 'verification_required'
  response.redirect(303, isAsked ? request.originalUrl : result.order.returnUrl)
}

function readBuyer(request: Request, form: Record<string, string>): string | null {
  const cookie = new RegExp(`(?:^|;\\s*)${BUYER_COOKIE}=([\\w-]{1,100})`).exec(request.get('cookie') ?? '')?.[1]
  const known = cookie ?? form['buyer'] ?? ''
  return /^[\w-]{1,100}$/.test(known) ? known : null
}

/** Returns the action of a pressed button; null if the page has no such button. */
function readAct(button: string, payment: { order: SandboxOrder; buyer: string }): ActRequest | null {
  const { order, buyer } = payment
  switch (button) {
    case 'pay':
      return { action: 'pay', buyer }
    case 'underpay':
      return { action: 'pay', buyer, receivedMinor: part(order.minor, 50n) }
    case 'overpay':
      return { action: 'pay', buyer, receivedMinor: part(order.minor, 150n) }
    case 'slow':
      return { action: 'pay', seconds: SLOW_SECONDS }
    case 'hold':
      return { action: 'hold' }
    case 'check':
      return { action: 'require_verification', buyer }
    case 'decline':
    case 'cancel':
    case 'verify':
    case 'fail_verification':
      return { action: button }
    default:
      return null
  }
}

function part(minor: string, percent: bigint): string {
  const arriving = (BigInt(minor) * percent) / 100n
  return (arriving > 0n ? arriving : 1n).toString()
}

function sendPage(response: Response, sent: { status: number; body: string; order?: SandboxOrder }): void {
  // form-action covers redirects after a POST too, so it must allow the merchant's origin.
  const shop = sent.order === undefined ? '' : ` ${new URL(sent.order.returnUrl).origin}`
  response
    .status(sent.status)
    .set({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'self'; form-action 'self'${shop}; base-uri 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    .send(sent.body)
}
