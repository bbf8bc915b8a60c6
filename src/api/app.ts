import { constants } from 'node:zlib'
import compression from 'compression'
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import type { Db } from '../db/db.ts'
import type { NewDigest } from '../db/merchants/api-keys.ts'
import type { ApiRequest } from '../db/merchants/requests.ts'
import type { SignUp, StandardAgreement } from '../domain/account/agreement.ts'
import type { IdKind } from '../domain/ids.ts'
import type { Offering } from '../domain/partner/offering.ts'
import type { ReadCallback } from '../domain/payment/partner.ts'
import type { Platform } from '../domain/platform.ts'
import type { HealthCheck } from '../runtime/health.ts'
import type { Logger } from '../runtime/log.ts'
import { createDurations } from '../runtime/metrics.ts'
import type { Registry } from '../runtime/registry.ts'
import type { Tracing } from '../runtime/traces.ts'
import type { DeliveryWorkflows, SkipDeliveryTime } from '../temporal/deliveries.ts'
import type { PaymentWorkflows } from '../temporal/payments.ts'
import type { RefundWorkflows } from '../temporal/refunds.ts'
import { answerHeaders } from '../web/page-headers.ts'
import type { TargetRules } from '../webhooks/endpoint-url.ts'
import type { SecretBox } from '../webhooks/secret-box.ts'
import { createAuthenticate } from './auth/auth.ts'
import { createDocsSite, type DocsSite } from './document/docs-site.ts'
import { createBtcpayApi, isBtcpayApi } from './facades/btcpay/btcpay.ts'
import { createBtcpayPages } from './facades/btcpay/pages.ts'
import { accessLog } from './http/metrics.ts'
import { Problem, problemHandler } from './http/problems.ts'
import { requestLog } from './http/request-log.ts'
import type { Background } from './limits/background.ts'
import { holding } from './limits/hold.ts'
import type { RequestLimits } from './limits/request-limits.ts'
import { createTurns, type Turns } from './limits/turns.ts'
import type { EventWaits } from './live/event-waits.ts'
import type { OpenPages } from './live/open-pages.ts'
import { MCP_PATH, mountMcp } from './mcp/mcp.ts'
import { mountOperations, setHeaders } from './route.ts'
import type { Locate } from './routes/buyer.ts'
import { callbackRouter } from './routes/callbacks.ts'
import { type CheckoutDeps, createCheckoutRouter } from './routes/checkout/checkout.ts'
import { healthRouter } from './routes/health.ts'
import { createPublicLinkRouter } from './routes/links/public.ts'
import type { LogoFile } from './routes/logos.ts'
import { onlyOurAddress } from './routes/our-address.ts'
import type { RateBook } from './routes/prices.ts'
import { receiptsRouter } from './routes/receipts.ts'
import { referenceRouter } from './routes/reference.ts'
import { type RefillCallbackDeps, refillCallbackRouter } from './routes/refill-callbacks.ts'
import { createSiteRouter } from './routes/site.ts'
import { sendSiteProblem, wantsPage } from './routes/site-problem.ts'
import { testAccountRouter } from './routes/test-accounts.ts'
import { OPERATIONS, type OperationDeps } from './routes/v1/index.ts'
import type { DraftDeps } from './routes/v1/payments/draft.ts'
import { rememberTerms } from './routes/v1/payments/payment-terms.ts'
import type { Simulate } from './routes/v1/payments/simulate-outcome.ts'
import type { LocalInbox } from './routes/v1/webhooks/endpoints.ts'

export type ApiDeps = {
  readonly db: Db
  readonly workflows: PaymentWorkflows
  readonly refunds: RefundWorkflows
  readonly deliveries: DeliveryWorkflows
  readonly readCallback: ReadCallback
  readonly readRefillCallback: RefillCallbackDeps['readRefillCallback']
  readonly rates: RateBook
  readonly publicUrl: string
  readonly pepper: string
  readonly retiredPeppers: readonly string[]
  readonly secretBox: SecretBox
  readonly webhookTargets: TargetRules
  /** Null if the partners are real. */
  readonly simulate: Simulate | null
  /** Null in live mode. */
  readonly skipDeliveryTime: SkipDeliveryTime | null
  readonly limits: RequestLimits
  readonly chainId: number
  readonly token: string
  readonly tolerances: DraftDeps['tolerances']
  readonly agreement: StandardAgreement
  readonly signUp: SignUp
  readonly linksWithoutAccount: boolean
  readonly trustProxyHops: number
  readonly hstsIncludeSubdomains: boolean
  readonly countryHeader: string | undefined
  /** Null without a file of countries. */
  readonly locate: Locate | null
  readonly offering: Offering
  readonly down: CheckoutDeps['down']
  readonly partners: CheckoutDeps['partners']
  readonly clock: () => number
  /** Null if it is not known. */
  readonly otherModeUrl: string | null
  readonly platform: Platform
  readonly platformLogo: LogoFile | null
  /** The demo merchant, who signs in with one press. Null if there is none. */
  readonly demoEmail: string | null
  /** Null except with `npm start`. */
  readonly inbox: LocalInbox | null
  /** Null except with `npm start`. */
  readonly simulatedWalletUrl: string | null
  readonly newId: (kind: IdKind) => string
  readonly log: Logger
  readonly openPages: OpenPages
  readonly eventWaits: EventWaits
  readonly healthChecks: readonly HealthCheck[]
  readonly registry: Registry
  readonly tracing: Tracing
  readonly background: Background
  readonly onStarted: (paymentId: string) => void
  readonly onKeyUsed: (keyId: string) => void
  readonly onOldPepper: (digest: NewDigest) => void
  readonly onRequest: (request: ApiRequest) => void
}

export function createApp(deps: ApiDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('trust proxy', deps.trustProxyHops)
  app.set('query parser', 'simple')
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  // No response may be cached, so computing ETags would be wasted.
  app.set('etag', false)
  app.use(requestId(deps.newId))
  app.use(setHeaders(answerHeaders(deps)))
  app.use(accessLog({ durations: createDurations(deps.registry), tracing: deps.tracing, log: deps.log }))
  app.use(compressed())
  app.use(healthRouter(deps.healthChecks))
  app.use(refillCallbackRouter(deps))
  app.use(callbackRouter(deps))
  app.use(countVisits(deps.limits))
  app.use(onlyOurAddress(deps))
  const own = { ...operationDeps(deps), turns: createTurns() }
  const { platform, publicUrl } = deps
  const { feePercent } = deps.agreement
  const testUrl = guideOrigin(deps)
  const docs = createDocsSite({ platform, operations: OPERATIONS, publicUrl, testUrl, feePercent })
  app.use(createApiRouter(own, docs))
  app.use(createBtcpayApi(own))
  app.use(createBtcpayPages(deps))
  app.use(createCheckoutRouter(checkoutDeps(deps, deps.simulate === null ? null : own)))
  app.use(createPublicLinkRouter(own))
  app.use(createSiteRouter(own))
  app.use(referenceRouter(docs))
  app.use(receiptsRouter(deps, docs))
  app.use((request: Request) => {
    if (hasKey(request.path)) deps.limits.countVisit(request.ip ?? '', 'look')
    throw new Problem('route_missing', `There is no ${request.method} ${request.path}.`)
  })
  app.use(holding(pagesForBrowsers(deps)))
  app.use(problemHandler(deps))
  return app
}

/** An API request tries none of the many page paths, and a page request none of these routes. */
function createApiRouter(
  deps: ApiDeps & OperationDeps & { readonly turns: Turns },
  docs: Pick<DocsSite, 'openApi' | 'pages' | 'search'>,
): RequestHandler {
  const router = express.Router({ caseSensitive: true, strict: true })
  router.use(requestLog(deps))
  router.use(testAccountRouter(deps))
  const own = { ...deps, docs, authenticate: createAuthenticate(deps) }
  mountOperations(router, OPERATIONS, own)
  mountMcp(router, own)
  return (request, response, next) => {
    if (request.path.startsWith('/v1/') || request.path === MCP_PATH) router(request, response, next)
    else next()
  }
}

/** A live deployment that does not know the test deployment shows its own URL. */
function guideOrigin({ db, publicUrl, otherModeUrl }: ApiDeps): string {
  return db.livemode ? (otherModeUrl ?? publicUrl) : publicUrl
}

/** Bytes. A smaller response is three packets, of which compression saves two at most. */
const COMPRESSED_FROM = 4096

/**
 * At the fastest level a payment page is 6 % larger with gzip (brotli 17 %) than at the usual level, for two thirds of
 * the CPU (brotli two fifths). Event streams must not wait, so they are not compressed.
 */
function compressed() {
  return compression({
    level: constants.Z_BEST_SPEED,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY + 1 } },
    threshold: COMPRESSED_FROM,
    filter: (request, response) =>
      !String(response.getHeader('content-type')).startsWith('text/event-stream') &&
      compression.filter(request, response),
  })
}

/**
 * A route with a key counts the requests that it refuses. A callback is counted only if it is not authentic: partners
 * send many requests from one network.
 */
function countVisits({ countVisit }: RequestLimits) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { path, method, ip = '' } = request
    if (!hasKey(path) && !isFile(path)) countVisit(ip, method === 'POST' ? 'act' : 'look')
    next()
  }
}

const hasKey = (path: string): boolean =>
  (path.startsWith('/v1/') && path !== '/v1/openapi.json') || path === MCP_PATH || isBtcpayApi(path)

/** The colors of a brand are computed on request, and anybody can request sixteen million of them. */
function isFile(path: string): boolean {
  return path === '/pinrail.js' || (path.startsWith('/assets/') && !path.startsWith('/assets/brand.'))
}

function pagesForBrowsers(deps: ApiDeps): ErrorRequestHandler {
  // oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
  return (error: unknown, request, response, next) => {
    if (wantsPage(request)) sendSiteProblem(deps, { request, response }, error)
    else next(error)
  }
}

function requestId(newId: ApiDeps['newId']) {
  return (_request: Request, response: Response, next: NextFunction): void => {
    const id = newId('request')
    response.locals['requestId'] = id
    response.set('request-id', id)
    next()
  }
}

/** One memory of terms for the API and the dashboard. */
function operationDeps(deps: ApiDeps): ApiDeps & OperationDeps {
  const { newId } = deps
  return {
    ...deps,
    terms: rememberTerms(deps.agreement),
    newPaymentId: () => newId('payment'),
    newRefundId: () => newId('refund'),
    newAttemptId: () => newId('attempt'),
    newLinkId: () => newId('link'),
    newEndpointId: () => newId('endpoint'),
    newChannelId: () => newId('channel'),
    newChannelMessageId: () => newId('channelMessage'),
    newMailId: () => newId('mail'),
  }
}

function checkoutDeps(deps: ApiDeps, simulating: CheckoutDeps['simulating']): CheckoutDeps {
  return {
    simulating,
    db: deps.db,
    platform: deps.platform,
    platformLogo: deps.platformLogo,
    rates: deps.rates,
    openPages: deps.openPages,
    openAttempt: (paymentId, request) => deps.workflows.openAttempt(paymentId, request),
    signalExtended: (paymentId) => deps.workflows.signalRowChanged(paymentId),
    publicUrl: deps.publicUrl,
    newAttemptId: () => deps.newId('attempt'),
    clock: deps.clock,
    log: deps.log,
    offering: deps.offering,
    down: deps.down,
    partners: deps.partners,
    simulatedWalletUrl: deps.simulatedWalletUrl,
    limits: deps.limits,
    countryHeader: deps.countryHeader,
    locate: deps.locate,
  }
}
