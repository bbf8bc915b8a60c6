import { randomBytes } from 'node:crypto'
import express, { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import type { StandardAgreement } from '../../../domain/account/agreement.ts'
import { linkUrl } from '../../../domain/link/link.ts'
import { listCurrencies } from '../../../domain/partner/offering.ts'
import type { Logger } from '../../../runtime/log.ts'
import type { LinkDraft } from '../../../web/links/link-draft.ts'
import { renderCreatedLink } from '../../../web/links/maker/made-page.tsx'
import { type Hints, renderMaker } from '../../../web/links/maker/maker-page.tsx'
import { renderReportAsk } from '../../../web/links/maker/report-ask.tsx'
import { FRAMED_HEADERS, FRAMING_HEADERS, PAGE_HEADERS } from '../../../web/page-headers.ts'
import { checkReceivingWallet } from '../../accounts/receiving-wallet.ts'
import { type AnonymousDeps, makeAnonymousLink, shortWallet } from '../../links/anonymous.ts'
import { createAmountHint } from '../../links/hints.ts'
import { draftLink, EMPTY_DRAFT, linkForm } from '../../links/link-form.ts'
import { onlyMethods, setHeaders } from '../../route.ts'
import { fromOurPage } from '../from-our-page.ts'
import { SiteProblem, siteProblemHandler } from '../site-problem.ts'
import { type PreviewDeps, renderPreview } from './preview.ts'

export type MakerDeps = AnonymousDeps &
  PreviewDeps & {
    readonly publicUrl: string
    readonly log: Logger
    readonly agreement: StandardAgreement
    readonly linksWithoutAccount: boolean
  }

const FORM_LIMIT = '16kb'

/** GET creates nothing. */
export function createMakerRouter(deps: MakerDeps): Router {
  const router = Router()
  const readForm = express.urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: 30 })
  router.use('/links', setHeaders(PAGE_HEADERS))
  router.get('/links/report', (request, response) => findReported(deps, request, response))
  router.use('/links', (_request, _response, next) => {
    if (!deps.linksWithoutAccount) throw new SiteProblem('links_off')
    next()
  })
  router.get('/links', (_request, response) => show(deps, response, { draft: EMPTY_DRAFT, errors: {} }))
  router.post('/links', fromOurPage(deps.publicUrl), readForm, (request, response) => make(deps, request, response))
  router.get('/links/preview', (request, response) => preview(deps, request, response))
  router.get('/links/hints', async (request, response) => {
    response.json(await hintsFor(deps, draftIn(request.query)))
  })
  router.all('/links', onlyMethods(['GET', 'POST']))
  router.all(['/links/preview', '/links/hints', '/links/report'], onlyMethods(['GET']))
  router.use('/links', () => {
    throw new SiteProblem('not_found')
  })
  router.use('/links', siteProblemHandler(deps))
  return router
}

/** Postgres rejects a text with NUL. */
function draftIn(fields: unknown): LinkDraft {
  const parsed = linkForm.safeParse({ ...(fields as object) })
  if (!parsed.success || Object.values(parsed.data).some((text) => text.includes('\0')))
    throw new SiteProblem('bad_request')
  return parsed.data
}

type Filled = { readonly draft: LinkDraft; readonly errors: Readonly<Record<string, string>> }

async function show(deps: MakerDeps, response: Response, { draft, errors }: Filled): Promise<void> {
  const hints = await hintsFor(deps, draft)
  const once = randomBytes(16).toString('base64url')
  const currencies = listCurrencies(deps.offering, null)
  const { platform, db } = deps
  const page = renderMaker({ platform, draft, currencies, errors, hints, once, testMode: !db.livemode })
  response.set(FRAMING_HEADERS).status(Object.keys(errors).length === 0 ? 200 : 400)
  response.type('html').send(page)
}

async function hintsFor(deps: MakerDeps, draft: LinkDraft): Promise<Hints> {
  return {
    amount: await createAmountHint(deps, draft, deps.agreement.feePercent),
    wallet: await hintOfWallet(deps, draft.wallet.trim()),
  }
}

async function hintOfWallet(deps: MakerDeps, text: string): Promise<Hints['wallet']> {
  if (text === '') return null
  const check = await checkReceivingWallet(deps, deps.db, text)
  if (!check.ok) return { tone: 'problem', text: `It ${check.message}.` }
  return check.address === text
    ? { tone: 'success', text: 'The checksum is valid. Nobody can check whose wallet it is, so compare it with yours.' }
    : { tone: 'quiet', text: 'There is no checksum: compare every character with your wallet.' }
}

const made = z.object({ once: z.string().regex(/^[\w-]{22}$/) })

async function make(deps: MakerDeps, request: Request, response: Response): Promise<void> {
  const draft = draftIn(request.body)
  const form = made.safeParse(request.body)
  if (!form.success) throw new SiteProblem('bad_request')
  const answer = await makeAnonymousLink(deps, { draft, once: form.data.once, ip: request.ip ?? '' })
  if ('errors' in answer) return show(deps, response, { draft, errors: answer.errors })
  const { owned, token } = answer
  if (owned.claimedAt !== null) return response.redirect(303, `/o/${token}`)
  const { platform, publicUrl } = deps
  const { link } = owned
  const urls = { url: linkUrl(publicUrl, link.code), ownerUrl: `${publicUrl}/o/${token}` }
  response.type('html').send(renderCreatedLink({ platform, link, ...urls }))
}

async function preview(deps: MakerDeps, request: Request, response: Response): Promise<void> {
  const draft = draftIn(request.query)
  const check = await checkReceivingWallet(deps, deps.db, draft.wallet.trim())
  const wallet = check.ok ? check.address : null
  const link = draftLink(draft, { livemode: deps.db.livemode, wallet, anonymous: true })
  const name = wallet === null ? 'Your wallet' : shortWallet(wallet)
  const shop = { name, brand: null, supportEmail: null, logo: null }
  response.set(FRAMED_HEADERS).type('html')
  response.send(await renderPreview(deps, request, { link, shop }))
}

/** The form for a person who received a link and wants to report it. */
function findReported({ platform }: MakerDeps, request: Request, response: Response): void {
  const { link } = request.query
  const code = typeof link === 'string' ? /(?:^|\/l\/)([0-9A-Za-z]{10})(?:[/?#].*)?$/.exec(link.trim())?.[1] : undefined
  if (code !== undefined) return response.redirect(303, `/l/${code}/report`)
  response.status(link === undefined ? 200 : 400).type('html')
  response.send(
    renderReportAsk(platform, { link: typeof link === 'string' ? link.slice(0, 200) : '', wrong: link !== undefined }),
  )
}
