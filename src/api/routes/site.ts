import { Router } from 'express'
import type { IdKind } from '../../domain/ids.ts'
import { listOffered } from '../../domain/partner/offering.ts'
import type { Logger } from '../../runtime/log.ts'
import { ASSETS, findAsset } from '../../web/assets.ts'
import { renderHome } from '../../web/home.tsx'
import { PAGE_HEADERS } from '../../web/page-headers.ts'
import { renderPricing } from '../../web/pricing.tsx'
import { createCookies } from '../accounts/cookies.ts'
import { onlyMethods, setHeaders } from '../route.ts'
import { accountPages } from './dashboard/accounts.ts'
import { claimAccountPages } from './dashboard/claim-account.ts'
import { confirming } from './dashboard/confirming.ts'
import { deliveryPages } from './dashboard/developers/deliveries.ts'
import { eventPages } from './dashboard/developers/events.ts'
import { keyPages } from './dashboard/developers/keys.ts'
import { requestPages } from './dashboard/developers/requests.ts'
import { webhookPages } from './dashboard/developers/webhooks.ts'
import { disputePages } from './dashboard/disputes.ts'
import { type ClaimDeps, claimPages } from './dashboard/links/claim.ts'
import { linkPages } from './dashboard/links/links.ts'
import { balancePages } from './dashboard/money/balance.ts'
import { type MountDeps, mountPages } from './dashboard/mount.ts'
import { newPaymentPages } from './dashboard/new-payment.ts'
import { overviewPages } from './dashboard/overview.ts'
import { ownPages } from './dashboard/own.ts'
import type { Page } from './dashboard/page.ts'
import { paymentPages } from './dashboard/payment.ts'
import { paymentListPages } from './dashboard/payments.ts'
import { refundPages } from './dashboard/refunds.ts'
import { agreementPages } from './dashboard/settings/agreement.ts'
import { brandPages } from './dashboard/settings/brand.ts'
import { deductionPages } from './dashboard/settings/deductions.ts'
import { embeddingPages } from './dashboard/settings/embedding.ts'
import { notificationPages } from './dashboard/settings/notifications.ts'
import { walletPages } from './dashboard/settings/wallet.ts'
import { createWalletStopRouter } from './dashboard/settings/wallet-stop.ts'
import { teamPages } from './dashboard/team.ts'
import { createMakerRouter, type MakerDeps } from './links/maker.ts'
import { createOwnerRouter } from './links/owner.ts'
import { createLogoRouter, type LogoDeps } from './logos.ts'
import { createSignInRouter, type SignInDeps } from './sign-in/sign-in.ts'
import { SiteProblem, siteProblemHandler } from './site-problem.ts'
import type { OperationDeps } from './v1/index.ts'

export type SiteDeps = OperationDeps &
  Omit<SignInDeps, 'cookies' | `new${string}`> &
  Omit<MakerDeps, `new${string}`> &
  ClaimDeps &
  LogoDeps &
  Pick<MountDeps, 'otherModeUrl' | 'limits' | 'turns'> & {
    readonly log: Logger
    readonly newId: (kind: IdKind) => string
  }

export function createSiteRouter(deps: SiteDeps): Router {
  const router = Router()
  const headers = setHeaders(PAGE_HEADERS)
  router.get('/', headers, (_request, response) => {
    response.removeHeader('x-robots-tag')
    response.type('html').send(renderHome(homeView(deps)))
  })
  router.get('/pricing', headers, (_request, response) => {
    response.removeHeader('x-robots-tag')
    response.type('html').send(renderPricing(pricingView(deps)))
  })
  router.get('/robots.txt', (_request, response) => {
    response
      .type('text/plain')
      .send(
        'User-agent: *\nDisallow: /c/\nDisallow: /dashboard\nDisallow: /o/\nDisallow: /sign-in\nDisallow: /wallet\n',
      )
  })
  router.get('/favicon.ico', (_request, response) => {
    const icon = findAsset(ASSETS.icon.slice('/assets/'.length))
    response.set('cache-control', 'public, max-age=86400').type('image/svg+xml').send(icon?.body)
  })
  router.all(['/', '/pricing', '/robots.txt', '/favicon.ico'], onlyMethods(['GET']))
  router.use(createLogoRouter(deps))
  const own = siteDeps(deps)
  router.use(createSignInRouter(own))
  router.use(createWalletStopRouter(deps))
  router.use(createMakerRouter(own))
  router.use(createOwnerRouter(deps))
  router.use(mountPages(dashboardPages(deps), own))
  router.use(['/dashboard', '/sign-in'], headers, () => {
    throw new SiteProblem('not_found')
  })
  router.use(['/dashboard', '/sign-in'], siteProblemHandler(deps))
  return router
}

const homeView = ({ db, publicUrl, offering, agreement, signUp, linksWithoutAccount, platform }: SiteDeps) => ({
  testMode: !db.livemode,
  publicUrl,
  ways: listOffered(offering),
  feePercent: agreement.feePercent,
  signUp,
  linksWithoutAccount,
  platform,
})

const pricingView = ({ offering, platform, signUp, agreement: { feePercent } }: SiteDeps) => ({
  platform,
  feePercent,
  signUp,
  ways: listOffered(offering),
})

function siteDeps(deps: SiteDeps) {
  const { newId } = deps
  return {
    ...deps,
    cookies: createCookies(deps.publicUrl),
    newSessionId: () => newId('session'),
    newPersonId: () => newId('person'),
    newSignInLinkId: () => newId('signInLink'),
    newMerchantId: () => newId('merchant'),
  }
}

/** The router and the tests read this list. */
export function dashboardPages(deps: SiteDeps): Page[] {
  const own = siteDeps(deps)
  const pages = [
    ...ownPages(own),
    ...claimAccountPages(deps),
    ...accountPages(own),
    ...overviewPages(own),
    ...paymentListPages(own),
    ...newPaymentPages(own),
    ...paymentPages(own),
    ...refundPages(own),
    ...disputePages(own),
    ...balancePages(own),
    ...keyPages(own),
    ...webhookPages(own),
    ...deliveryPages(own),
    ...eventPages(own),
    ...requestPages(own),
    ...walletPages(own),
    ...agreementPages(own),
    ...brandPages(own),
    ...deductionPages(own),
    ...embeddingPages(own),
    ...notificationPages(own),
    ...teamPages(own),
    ...linkPages(own),
    ...claimPages(own),
  ]
  return pages.map(confirming(deps.publicUrl))
}
