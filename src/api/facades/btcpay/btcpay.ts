import { type RequestHandler, Router } from 'express'
import type { ApiScope } from '../../auth/api-key.ts'
import type { AuthDeps } from '../../auth/auth.ts'
import { createAuthenticate } from '../../auth/auth.ts'
import { Problem, type ProblemSettings } from '../../http/problems.ts'
import { type RequestLogDeps, requestLog } from '../../http/request-log.ts'
import { holding } from '../../limits/hold.ts'
import { refuseOthers } from '../../route.ts'
import { btcpayErrorHandler } from './errors.ts'
import {
  archiveInvoice,
  createInvoice,
  listInvoices,
  markInvoice,
  readInvoice,
  readInvoiceMethods,
  updateInvoice,
} from './invoices.ts'
import { readCurrentKey } from './permissions.ts'
import { type FacadeDeps, type Handle, serve } from './serve.ts'
import { listStoreMethods, listStores, readServer, readStore } from './stores.ts'
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, updateWebhook } from './webhooks.ts'

/** BTCPay's Greenfield API over the operations of `/v1`, for plugins of shops that know only BTCPay. */
export const BTCPAY_PATH = '/btcpay'
const API = `${BTCPAY_PATH}/api/v1`

type Method = 'get' | 'post' | 'put' | 'delete'
type Routes = Readonly<Record<string, Partial<Readonly<Record<Method, readonly [ApiScope, Handle]>>>>>

const STORE = '/stores/:store'

const ROUTES: Routes = {
  '/api-keys/current': { get: ['payments:read', readCurrentKey] },
  '/server/info': { get: ['payments:read', readServer] },
  '/stores': { get: ['payments:read', listStores] },
  [STORE]: { get: ['payments:read', readStore] },
  [`${STORE}/payment-methods`]: { get: ['payments:read', listStoreMethods] },
  [`${STORE}/invoices`]: { get: ['payments:read', listInvoices], post: ['payments:write', createInvoice] },
  [`${STORE}/invoices/:id`]: {
    get: ['payments:read', readInvoice],
    put: ['payments:write', updateInvoice],
    delete: ['payments:write', archiveInvoice],
  },
  [`${STORE}/invoices/:id/status`]: { post: ['payments:write', markInvoice] },
  [`${STORE}/invoices/:id/payment-methods`]: { get: ['payments:read', readInvoiceMethods] },
  [`${STORE}/webhooks`]: { get: ['webhooks:read', listWebhooks], post: ['webhooks:write', createWebhook] },
  [`${STORE}/webhooks/:id`]: {
    get: ['webhooks:read', readWebhook],
    put: ['webhooks:write', updateWebhook],
    delete: ['webhooks:write', deleteWebhook],
  },
}

export type BtcpayDeps = Omit<FacadeDeps, 'authenticate'> & AuthDeps & RequestLogDeps & ProblemSettings

export const isBtcpayApi = (path: string): boolean => path.startsWith(`${API}/`)

export function createBtcpayApi(deps: BtcpayDeps): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  const own = { ...deps, authenticate: createAuthenticate(deps, 'token') }
  router.use(requestLog(deps))
  for (const [path, methods] of Object.entries(ROUTES)) {
    for (const [method, [scope, handle]] of Object.entries(methods))
      router[method as Method](`${API}${path}`, ...serve(own, scope, handle))
    router.all(
      `${API}${path}`,
      refuseOthers(
        deps,
        Object.keys(methods).map((method) => method.toUpperCase()),
      ),
    )
  }
  router.use((request) => {
    deps.limits.countVisit(request.ip ?? '', 'look')
    throw new Problem('route_missing', `There is no ${request.method} ${request.path}.`)
  })
  router.use(holding(btcpayErrorHandler(deps)))
  return (request, response, next) => {
    if (isBtcpayApi(request.path)) router(request, response, next)
    else next()
  }
}
