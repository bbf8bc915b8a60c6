import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Db } from '../../../db/db.ts'
import { findPaymentIds } from '../../../db/payments/payments.ts'
import { readReceipt } from '../../../db/receipts/receipts.ts'
import { isOpen } from '../../../domain/payment/payment.ts'
import { checkoutUrl } from '../../../domain/payment/payment-object.ts'
import {
  type OpenAttemptAnswer,
  type OpenAttemptRequest,
  planOpening,
  readyToReuse,
} from '../../../domain/payment/requests.ts'
import { extendPayment } from '../../../payments/extend-payment.ts'
import { findAsset } from '../../../web/assets.ts'
import {
  type Checkout,
  findOffer,
  findOpenedAttempt,
  findPaidAttempt,
  getChoicePath,
  isPaidHere,
  recordsOpening,
} from '../../../web/checkout/checkout.ts'
import { liveStatus } from '../../../web/checkout/live.ts'
import { renderCheckout, renderHandoff, renderReceipt } from '../../../web/checkout/page.tsx'
import { type Words, wordsIn } from '../../../web/messages/words.ts'
import { BUYER_HEADERS } from '../../../web/page-headers.ts'
import { renderReceiptPdf } from '../../../web/receipt-pdf/receipt-pdf.ts'
import type { RequestLimits } from '../../limits/request-limits.ts'
import { qrSvg } from '../../links/qr.ts'
import { findTogether } from '../../live/find-together.ts'
import { followPayment } from '../../live/follow-payment.ts'
import type { OpenPages } from '../../live/open-pages.ts'
import { buyerLocale, comesBack, countryCookie, languageCookie, sendPage, VARY } from '../buyer.ts'
import { fromOurPage } from '../from-our-page.ts'
import { type LogoDeps, readLogo } from '../logos.ts'
import { linkToken, PageProblem, pageProblemHandler } from '../page-problem.ts'
import {
  continueForm,
  countryForm,
  languageForm,
  mailForm,
  ownPage,
  parseForm,
  readBuyerForm,
  readChoice,
} from './forms.ts'
import { sendEmbedScript, sendFrameStatus, showFrame } from './frame.ts'
import { type LoadDeps, loadCheckout } from './load.ts'
import { noteOffer } from './offers.ts'
import { keepAddress, sendWrongAddress } from './receipt-mail.ts'
import { playOnBar } from './sandbox.ts'

/** The buyer's link is the only key. GET never creates anything. */

export type CheckoutDeps = LoadDeps & {
  readonly db: Pick<Db, 'query' | 'transaction'>
  readonly platformLogo: LogoDeps['platformLogo']
  /** Answers within about 30 s. */
  readonly openAttempt: (
    paymentId: string,
    request: OpenAttemptRequest,
  ) => Promise<OpenAttemptAnswer | { readonly kind: 'unavailable' }>
  /** Signals the payment's workflow to read its row. */
  readonly signalExtended: (paymentId: string) => Promise<void>
  readonly newAttemptId: () => string
  readonly openPages: OpenPages
  readonly limits: Pick<RequestLimits, 'countLink' | 'countReceiptFile'>
}

export function createCheckoutRouter(deps: CheckoutDeps): Router {
  const router = Router()
  const form = readBuyerForm(deps.publicUrl)
  const findPayment = findTogether((tokens) => findPaymentIds(deps.db, tokens))
  router.get('/assets/:name', sendAsset)
  router.get('/pinrail.js', sendEmbedScript)
  router.use('/c', (_request, response, next) => {
    response.set(BUYER_HEADERS).vary(VARY)
    next()
  })
  router.use('/c/:token', (request, _response, next) => {
    deps.limits.countLink(linkToken(request), request.method === 'POST' ? 'act' : 'look')
    next()
  })
  router.get('/c/:token', (request, response) => showCheckout(deps, request, response))
  router.get('/c/:token/code.svg', (request, response) => sendCode(deps, request, response))
  router.get('/c/:token/receipt', (request, response) => showReceipt(deps, request, response))
  router.get('/c/:token/receipt.pdf', (request, response) => sendReceipt(deps, request, response))
  router.get('/c/:token/receipt.json', (request, response) => sendProof(deps, request, response))
  router.get('/c/:token/frame', (request, response) => showFrame(deps, request, response))
  router.get('/c/:token/frame/status', (request, response) => sendFrameStatus(deps, request, response))
  router.get('/c/:token/status', (request, response) => sendStatus(deps, request, response))
  router.get('/c/:token/live', (request, response) =>
    followPayment({ openPages: deps.openPages, findPayment }, request, response),
  )
  router.post('/c/:token/continue', ...form, (request, response) => openAttempt(deps, request, response))
  // A browser that restores its tabs requests the URL of the page that led to the partner.
  router.get('/c/:token/continue', (request, response) =>
    response.redirect(303, request.path.replace(/\/continue$/, '')),
  )
  router.post('/c/:token/opened', fromOurPage(deps.publicUrl, 'allowed'), (request, response) =>
    noteOpening(deps, request, response),
  )
  router.post('/c/:token/extend', ...form, (request, response) => extend(deps, request, response))
  router.post('/c/:token/receipt-mail', ...form, (request, response) => keepReceiptMail(deps, request, response))
  router.post('/c/:token/country', ...form, (request, response) => chooseCountry(deps, request, response))
  router.post('/c/:token/language', ...form, (request, response) => chooseLanguage(deps, request, response))
  // A partner can return the buyer by a form: nothing in it is read, and the page is shown.
  router.post('/c/:token', (request, response) => response.redirect(303, request.path))
  router.all('/c/:token', refuseMethod('GET, HEAD, POST'))
  const shown = [
    '/code.svg',
    '/receipt',
    '/receipt.pdf',
    '/receipt.json',
    '/status',
    '/live',
    '/frame',
    '/frame/status',
  ].map((page) => `/c/:token${page}`)
  router.all(shown, refuseMethod('GET, HEAD'))
  router.post('/c/:token/sandbox', ...form, (request, response) => play(deps, request, response))
  router.all('/c/:token/continue', refuseMethod('GET, HEAD, POST'))
  const posted = ['extend', 'receipt-mail', 'country', 'language', 'opened', 'sandbox'].map(
    (name) => `/c/:token/${name}`,
  )
  router.all(posted, refuseMethod('POST'))
  router.use('/c', () => {
    throw new PageProblem('not_found')
  })
  router.use('/c', pageProblemHandler(deps))
  return router
}

async function showCheckout(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const checkout = await loadCheckout(deps, request)
  const shown = hasReturned(checkout, request)
    ? { ...checkout, cameBackAt: checkout.now, isAddressOld: true }
    : checkout
  const words = wordsFor(checkout, request)
  sendPage(response, words, renderCheckout(shown, words))
}

/** True once: a redirected browser sends the same referrer again, with `?back=`. */
function hasReturned({ attempts, payment }: Checkout, request: Request): boolean {
  const opened = findOpenedAttempt(attempts)
  if (opened === null || request.query['back'] !== undefined || !isOpen(payment.status)) return false
  return comesBack(request, opened, [payment.successUrl, payment.cancelUrl])
}

/** The page's script sends this: a chat that fetches a link for its preview writes nothing. */
async function noteOpening(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const checkout = await loadCheckout(deps, request)
  if (recordsOpening(checkout)) await noteOffer(deps, checkout, null)
  response.status(204).end()
}

async function showReceipt(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const checkout = await loadCheckout(deps, request)
  if (checkout.payment.status !== 'succeeded') {
    response.redirect(303, checkout.path)
    return
  }
  const words = wordsFor(checkout, request)
  sendPage(response, words, renderReceipt(checkout, words))
}

/** A file counts as an action. A receipt that cannot be typeset is printed from its page. */
async function sendReceipt(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  deps.limits.countLink(linkToken(request), 'act')
  deps.limits.countReceiptFile(request.ip ?? '')
  const checkout = await loadCheckout(deps, request)
  const words = wordsFor(checkout, request)
  const isPaid = checkout.payment.status === 'succeeded'
  const pdf = isPaid ? await renderReceiptPdf(checkout, words, (name) => readLogo(deps, name)) : null
  if (pdf === null) {
    response.redirect(303, `${checkout.path}/receipt`)
    return
  }
  response.set({
    'content-language': words.locale,
    'content-disposition': `attachment; filename="receipt-${checkout.payment.id}.pdf"`,
  })
  response.type('application/pdf').send(pdf)
}

/** Sends the proof of the transfer. Anyone can read everything in it on the chain. */
async function sendProof(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  deps.limits.countLink(linkToken(request), 'act')
  const { payment } = await loadCheckout(deps, request)
  const receipt = await readReceipt(deps.db, payment, payment.id)
  if (receipt === null) throw new PageProblem('not_found')
  response.json(receipt)
}

function wordsFor({ country }: Checkout, request: Request): Words {
  return wordsIn(buyerLocale(request), country.code)
}

/** The page requests its QR code when the buyer opens that section. */
async function sendCode(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const token = linkToken(request)
  if (!(await findPaymentIds(deps.db, [token])).has(token)) throw new PageProblem('not_found')
  response.type('image/svg+xml').send(qrSvg(checkoutUrl(deps.publicUrl, token)))
}

async function sendStatus(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  response.json(liveStatus(await loadCheckout(deps, request)))
}

async function openAttempt(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const { email, share, ...choice } = parseForm(continueForm, request)
  const checkout = await loadCheckout(deps, request)
  if (!isOpen(checkout.payment.status) || findPaidAttempt(checkout) !== null) {
    response.redirect(303, checkout.path)
    return
  }
  const offer = findOffer(checkout.offered, choice)
  const chosen = getChoicePath(checkout.path, choice)
  if (offer === null || planOpening(checkout, choice).kind === 'too_many_attempts') {
    // The page then shows that this way to pay is not possible, or that there were too many attempts.
    response.redirect(303, chosen)
    return
  }
  const words = wordsFor(checkout, request)
  const typed = { email, share }
  if (!(await keepAddress(deps, checkout, { typed, language: words.locale }))) {
    sendWrongAddress(response, words, { checkout: { ...checkout, asked: { step: null, choice } }, typed })
    return
  }
  await noteOffer(deps, checkout, offer)
  const ready = readyToReuse(checkout, choice)
  if (ready !== null) {
    if (ready.intentUri === null) sendPage(response, words, renderHandoff(checkout, words, ready))
    else response.redirect(303, checkout.path)
    return
  }
  const answer = await deps.openAttempt(checkout.payment.id, { attemptId: deps.newAttemptId(), ...choice })
  if (answer.kind === 'unavailable') throw new PageProblem('unavailable', '5')
  if (answer.kind === 'redirect' && !isPaidHere(choice)) {
    const order = { provider: choice.provider, redirectUrl: answer.url }
    sendPage(response, words, renderHandoff(checkout, words, order))
    return
  }
  // The checkout shows a declined attempt or a closed payment. UPI and USDC are paid there.
  response.redirect(303, answer.kind === 'too_many_attempts' ? chosen : checkout.path)
}

async function keepReceiptMail(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const typed = parseForm(mailForm, request)
  const checkout = await loadCheckout(deps, request)
  const words = wordsFor(checkout, request)
  if (await keepAddress(deps, checkout, { typed, language: words.locale })) response.redirect(303, checkout.path)
  else sendWrongAddress(response, words, { checkout, typed })
}

/** If the signal fails, the workflow reads the new expiry when the old one is over. */
async function extend(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const { payment, path } = await loadCheckout(deps, request)
  const context = { publicUrl: deps.publicUrl, now: deps.clock }
  if (await extendPayment(deps.db, context, payment.id))
    await deps.signalExtended(payment.id).catch((error: unknown) => {
      deps.log.warn({ err: error, payment_id: payment.id }, 'the workflow reads the new expiry later')
    })
  response.redirect(303, path)
}

async function chooseCountry(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const { country, chosen } = parseForm(countryForm, request)
  const { url, path } = await loadCheckout(deps, request)
  const choice = readChoice(chosen)
  response.set('set-cookie', countryCookie(country, url))
  response.redirect(303, choice === null ? path : getChoicePath(path, choice))
}

async function chooseLanguage(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const { language, at } = parseForm(languageForm, request)
  const { url, path } = await loadCheckout(deps, request)
  response.set('set-cookie', languageCookie(language, url))
  response.redirect(303, ownPage(at, path))
}

/** The bar of a test payment stays open. */
async function play(deps: CheckoutDeps, request: Request, response: Response): Promise<void> {
  const checkout = await loadCheckout(deps, request)
  const refused = await playOnBar(deps.simulating, { request, response, checkout })
  if (refused === null || checkout.sandbox === null) {
    response.redirect(303, `${checkout.path}?sandbox=`)
    return
  }
  const shown = { ...checkout, sandbox: { ...checkout.sandbox, open: true, note: refused.note } }
  const words = wordsFor(checkout, request)
  response.status(refused.status)
  sendPage(response, words, renderCheckout(shown, words))
}

export function refuseMethod(allow: string): RequestHandler {
  return (_request, response) => {
    response.set('allow', allow)
    throw new PageProblem('method_not_allowed')
  }
}

function sendAsset(request: Request, response: Response, next: () => void): void {
  const asset = findAsset(String(request.params['name']))
  if (asset === null) {
    next()
    return
  }
  response.set({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': asset.contentType,
    // A page of another origin can verify the script's `integrity` only if it may read the script.
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  })
  response.send(asset.body)
}
