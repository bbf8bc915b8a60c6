import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { isLockTimeout } from '../../../db/db.ts'
import { findLinkByCode } from '../../../db/links/links.ts'
import { insertReport } from '../../../db/links/reports.ts'
import { linkUrl, type PaymentLink } from '../../../domain/link/link.ts'
import { REPORT_REASONS } from '../../../domain/link/report.ts'
import { formatAmount } from '../../../domain/money.ts'
import { readTypedAmount } from '../../../domain/typed-amount.ts'
import type { Logger } from '../../../runtime/log.ts'
import { getChoicePath } from '../../../web/checkout/checkout.ts'
import { type LinkView, renderLinkPage, type WrongAmount } from '../../../web/links/link-page.tsx'
import { renderReport, renderReported } from '../../../web/links/report-page.tsx'
import { wordsIn } from '../../../web/messages/words.ts'
import { BUYER_HEADERS } from '../../../web/page-headers.ts'
import type { RequestLimits } from '../../limits/request-limits.ts'
import { type PressDeps, pressLink } from '../../links/press.ts'
import { qrPng, qrSvg } from '../../links/qr.ts'
import { buyerCountry, buyerLocale, type CountryDeps, languageCookie, sendPage, VARY } from '../buyer.ts'
import { refuseMethod } from '../checkout/checkout.ts'
import { languageForm, parseForm, readBuyerForm, readChoice } from '../checkout/forms.ts'
import { PageProblem } from '../page-problem.ts'
import { referenceText, textAsSent } from '../v1/fields.ts'
import { LinkProblem, linkProblemHandler } from './link-problem.ts'
import { createLinkView, type LinkViewDeps } from './link-view.ts'
import { ownPlace, placeCookie } from './own-place.ts'

/** GET never creates anything: chats fetch links. */

export type PublicLinkDeps = PressDeps &
  CountryDeps & {
    readonly limits: Pick<RequestLimits, 'countPress' | 'countForm'>
    readonly down: LinkViewDeps['down']
    readonly platform: LinkViewDeps['platform']
    readonly log: Logger
  }

export function createPublicLinkRouter(deps: PublicLinkDeps): Router {
  const router = Router()
  const post = readBuyerForm(deps.publicUrl)
  router.use('/l', (_request, response, next) => {
    response.set(BUYER_HEADERS).vary(VARY)
    next()
  })
  router.get('/l/:code', (request, response) => show(deps, request, response))
  router.post('/l/:code', ...post, (request, response) => press(deps, request, response))
  router.post('/l/:code/language', ...post, (request, response) => chooseLanguage(deps, request, response))
  router.get('/l/:code/report', (request, response) => showReport(deps, request, response))
  router.post('/l/:code/report', ...post, (request, response) => report(deps, request, response))
  router.get(['/l/:code/qr.svg', '/l/:code/qr.png'], (request, response) => sendQr(deps, request, response))
  router.all(['/l/:code', '/l/:code/report'], refuseMethod('GET, HEAD, POST'))
  router.all(['/l/:code/qr.svg', '/l/:code/qr.png'], refuseMethod('GET, HEAD'))
  router.all('/l/:code/language', refuseMethod('POST'))
  router.use('/l', () => {
    throw new LinkProblem('missing')
  })
  router.use('/l', linkProblemHandler(deps))
  return router
}

async function loadLink({ db }: PublicLinkDeps, request: Request): Promise<PaymentLink> {
  const code = String(request.params['code'])
  const link = /^[0-9A-Za-z]{10}$/.test(code) ? await findLinkByCode(db, code) : null
  if (link === null) throw new LinkProblem('missing')
  return link
}

async function show(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const link = await loadLink(deps, request)
  const own = await ownPlace(deps, link, request)
  if (own !== null) return response.redirect(303, own)
  await send(deps, { request, response }, { link, ...readQuery(link, request), wrong: null })
}

const prefilled = z.object({
  amount: z.string().catch(''),
  reference: referenceText.nullable().catch(null),
})

/** Only the fields that the link allows. */
function readQuery({ prefill, price }: PaymentLink, { query }: Request): { amount: string; reference: string | null } {
  const { amount, reference } = prefilled.parse({ ...query })
  const read = readTypedAmount(amount, price.currency)
  return {
    amount: prefill.includes('amount') && read.ok ? formatAmount(read.money) : '',
    reference: prefill.includes('reference') ? reference : null,
  }
}

type At = { readonly request: Request; readonly response: Response }
type Filled = Pick<LinkView, 'link' | 'amount' | 'reference' | 'wrong'>

async function send(deps: PublicLinkDeps, { request, response }: At, shown: Filled): Promise<void> {
  const country = buyerCountry(request, deps).code
  const view = await createLinkView(deps, shown, { country, userAgent: request.get('user-agent') })
  const words = wordsIn(buyerLocale(request), country)
  sendPage(response, words, renderLinkPage(view, words))
}

const pressForm = z.object({
  press: z.string().regex(/^[\w-]{22}$/),
  amount: z.string().max(40).default(''),
  reference: referenceText.optional(),
  /** The pressed row. If it is unknown, the checkout asks. */
  way: z.string().max(100).optional(),
})

async function press(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const form = parseForm(pressForm, request)
  const link = await loadLink(deps, request)
  deps.limits.countPress(request.ip ?? '', link.id)
  const reference = link.prefill.includes('reference') ? (form.reference ?? null) : null
  const amount = link.price.amount === null ? form.amount : ''
  const answer = await pressLink(deps, link, { press: form.press, amount, reference }).catch(unavailableIfLocked)
  if (answer.kind === 'unavailable') throw new PageProblem('unavailable', '5')
  if (answer.kind === 'limited') throw new LinkProblem('paused')
  if (answer.kind === 'made') {
    const checkout = new URL(answer.path, deps.publicUrl).href
    response.append('set-cookie', languageCookie(buyerLocale(request), checkout))
    if (link.maxPayments !== null) response.append('set-cookie', placeCookie(deps, link, answer.path))
    const choice = readChoice(form.way)
    response.redirect(303, choice === null ? answer.path : getChoicePath(answer.path, choice))
    return
  }
  const wrong: WrongAmount | null = answer.kind === 'amount' ? answer : null
  // Read again: the page shows why the link is closed now.
  const now = await loadLink(deps, request)
  const own = wrong === null ? await ownPlace(deps, now, request) : null
  if (own !== null) return response.redirect(303, own)
  response.status(wrong === null ? 409 : 422)
  await send(deps, { request, response }, { link: now, amount: form.amount.trim(), reference, wrong })
}

/** The link's lock was not available in time: nothing was made. */
function unavailableIfLocked(error: unknown): never {
  if (isLockTimeout(error)) throw new PageProblem('unavailable')
  throw error
}

async function chooseLanguage(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const { language, at } = parseForm(languageForm, request)
  const url = linkUrl(deps.publicUrl, (await loadLink(deps, request)).code)
  const { pathname } = new URL(url)
  response.set('set-cookie', languageCookie(language, url))
  response.redirect(303, at === `${pathname}/report` ? at : pathname)
}

async function showReport(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const words = wordsIn(buyerLocale(request))
  sendPage(response, words, renderReport(reportView(deps, await loadLink(deps, request)), words))
}

const reportForm = z.object({
  reason: z.enum(REPORT_REASONS),
  details: textAsSent(1000).default(''),
})

async function report(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const form = parseForm(reportForm, request)
  const link = await loadLink(deps, request)
  deps.limits.countForm(request.ip ?? '')
  await insertReport(deps.db, link.id, { ...form, at: new Date(deps.clock()).toISOString() })
  const words = wordsIn(buyerLocale(request))
  sendPage(response, words, renderReported(reportView(deps, link), words))
}

const reportView = ({ platform, publicUrl }: PublicLinkDeps, { title, code, livemode }: PaymentLink) => ({
  platform,
  title,
  livemode,
  path: new URL(linkUrl(publicUrl, code)).pathname,
})

/** The URL of a link never changes. */
const A_DAY_IN_SECONDS = 86_400

async function sendQr(deps: PublicLinkDeps, request: Request, response: Response): Promise<void> {
  const { code } = await loadLink(deps, request)
  const url = linkUrl(deps.publicUrl, code)
  const extension = request.path.endsWith('.png') ? 'png' : 'svg'
  response.set({
    'content-disposition': `attachment; filename="payment-link-${code}.${extension}"`,
    'cache-control': `public, max-age=${A_DAY_IN_SECONDS}`,
  })
  if (extension === 'png') response.type('image/png').send(qrPng(url))
  else response.type('image/svg+xml').send(qrSvg(url))
}
