import { type Request, type Response, Router } from 'express'
import type { Db } from '../../../db/db.ts'
import { updateLink } from '../../../db/links/links.ts'
import { findOwnedLink, issueTicket, type OwnedLink, readLinkTotals } from '../../../db/links/owners.ts'
import { listPayments } from '../../../db/payments/payment-list.ts'
import { linkStatus, linkUrl, type PaymentLink } from '../../../domain/link/link.ts'
import type { Platform } from '../../../domain/platform.ts'
import type { Logger } from '../../../runtime/log.ts'
import {
  type OwnerAction,
  renderClaimed,
  renderOwner,
  renderUnknownSecret,
} from '../../../web/links/maker/owner-page.tsx'
import { PAGE_HEADERS } from '../../../web/page-headers.ts'
import { digestOfToken, newToken } from '../../accounts/tokens.ts'
import { onlyMethods, setHeaders } from '../../route.ts'
import { fromOurPage } from '../from-our-page.ts'
import { siteProblemHandler } from '../site-problem.ts'

export type OwnerDeps = {
  readonly platform: Platform
  readonly db: Db
  readonly publicUrl: string
  readonly log: Logger
  /** Unix milliseconds. */
  readonly clock: () => number
}

const PATH = '/o/:token'
/** The account that claims the link shows all payments. */
const SHOWN = 50
/** Milliseconds to sign in, or to make an account first. */
const TICKET_MS = 3_600_000

/** The URL is the secret of the link's maker. GET changes nothing. */
export function createOwnerRouter(deps: OwnerDeps): Router {
  const router = Router()
  const ours = fromOurPage(deps.publicUrl)
  router.use('/o', setHeaders(PAGE_HEADERS))
  router.get(PATH, (request, response) => withLink(deps, { request, response }, (owned) => show(deps, response, owned)))
  for (const action of ['pause', 'resume', 'end', 'claim'] as const) {
    router.post(`${PATH}/${action}`, ours, (request, response) =>
      withLink(deps, { request, response }, ({ link }) => act(deps, { request, response, link }, action)),
    )
    router.all(`${PATH}/${action}`, onlyMethods(['POST']))
  }
  router.all(PATH, onlyMethods(['GET']))
  router.use('/o', (_request, response) => nothing(deps.platform, response))
  router.use('/o', siteProblemHandler(deps))
  return router
}

async function withLink(
  { db, platform }: OwnerDeps,
  { request, response }: { request: Request; response: Response },
  work: (owned: OwnedLink & { readonly path: string }) => Promise<void>,
): Promise<void> {
  const token = String(request.params['token'])
  const owned = await findOwnedLink(db, digestOfToken(token))
  if (owned === null) return nothing(platform, response)
  if (owned.claimedAt !== null) {
    response.type('html').send(renderClaimed(platform, owned.link, owned.claimedAt))
    return
  }
  await work({ ...owned, path: `/o/${token}` })
}

function nothing(platform: Platform, response: Response): void {
  response.status(404).type('html').send(renderUnknownSecret(platform))
}

const toTenant = ({ merchantId, livemode }: PaymentLink) => ({ merchantId, livemode })

async function show(
  { db, publicUrl, clock, platform }: OwnerDeps,
  response: Response,
  { link, path }: OwnedLink & { readonly path: string },
): Promise<void> {
  const tenant = toTenant(link)
  const page = { limit: SHOWN, after: null, before: null }
  const [totals, payments] = await Promise.all([
    readLinkTotals(db, link.id),
    listPayments(db.lists(tenant), tenant, { filters: { paymentLink: link.id }, page }),
  ])
  const view = {
    link,
    path,
    url: linkUrl(publicUrl, link.code),
    totals,
    payments: (payments?.rows ?? []).map(({ payment }) => payment),
    now: new Date(clock()).toISOString(),
    platform,
  }
  response.type('html').send(renderOwner(view))
}

type At = { readonly request: Request; readonly response: Response; readonly link: PaymentLink }

/** Acts as the merchant of the unclaimed link: once an account has claimed it, nothing here changes it. */
async function act({ db, clock }: OwnerDeps, { request, response, link }: At, action: OwnerAction): Promise<void> {
  const now = clock()
  if (action === 'claim') {
    const ticket = newToken()
    const endsAt = new Date(now + TICKET_MS).toISOString()
    await issueTicket(db, { linkId: link.id, digest: digestOfToken(ticket), endsAt })
    return response.redirect(303, `/dashboard/links/claim/${ticket}`)
  }
  const tenant = toTenant(link)
  const isOver = ['expired', 'stopped'].includes(linkStatus(link, new Date(now).toISOString()))
  const changes = action === 'end' ? { expiresAt: new Date(now).toISOString() } : { active: action === 'resume' }
  if (!isOver) await updateLink(db.as(tenant), tenant, { id: link.id, changes })
  response.redirect(303, `/o/${String(request.params['token'])}`)
}
