import { type Request, type Response, Router } from 'express'
import { leaveNotice } from '../../../../db/accounts/account-notices.ts'
import { writeAudit } from '../../../../db/accounts/audit.ts'
import type { Db } from '../../../../db/db.ts'
import { findWalletStop } from '../../../../db/merchants/wallet-stops.ts'
import { dropPlannedWallet } from '../../../../db/merchants/wallets.ts'
import type { Platform } from '../../../../domain/platform.ts'
import { PAGE_HEADERS } from '../../../../web/page-headers.ts'
import { renderNothingToStop, renderStop, renderStopped } from '../../../../web/wallet/stop.tsx'
import { digestOfToken } from '../../../accounts/tokens.ts'
import { onlyMethods, setHeaders } from '../../../route.ts'
import { fromOurPage } from '../../from-our-page.ts'
import { siteProblemHandler } from '../../site-problem.ts'

export type WalletStopDeps = Parameters<typeof siteProblemHandler>[0] & { readonly db: Db; readonly publicUrl: string }

const PATH = '/wallet/stop/:token'

/** A link in the mail about a planned change: one press stops it, without signing in. */
export function createWalletStopRouter(deps: WalletStopDeps): Router {
  const router = Router()
  router.use('/wallet', setHeaders(PAGE_HEADERS))
  router.get(PATH, (request, response) => show(deps, request, response))
  router.post(PATH, fromOurPage(deps.publicUrl), (request, response) => stop(deps, request, response))
  router.all(PATH, onlyMethods(['GET', 'POST']))
  router.use('/wallet', siteProblemHandler(deps))
  return router
}

const digestIn = (request: Request): Buffer => digestOfToken(String(request.params['token']))

async function show({ db, platform }: WalletStopDeps, request: Request, response: Response): Promise<void> {
  const change = await findWalletStop(db, digestIn(request))
  if (change === null) return nothing(platform, response)
  response.type('html').send(renderStop({ platform, ...change, action: request.path }))
}

async function stop({ db, platform }: WalletStopDeps, request: Request, response: Response): Promise<void> {
  const stopped = await db.transaction(async (tx) => {
    const change = await findWalletStop(tx, digestIn(request))
    if (change === null) return null
    const tenant = { merchantId: change.merchantId, livemode: db.livemode }
    // Only this change: one that was planned later has its own links.
    if (!(await dropPlannedWallet(tx, tenant, change.nextAt))) return null
    const { merchantId, personId: actor } = change
    await writeAudit(tx, { merchantId, actor, action: 'wallet.stopped', data: {}, ip: request.ip ?? '' })
    await leaveNotice(tx, tenant, { kind: 'wallet.kept', data: {} })
    return change
  })
  if (stopped === null) return nothing(platform, response)
  response.type('html').send(renderStopped(platform, stopped))
}

function nothing(platform: Platform, response: Response): void {
  response.status(404).type('html').send(renderNothingToStop(platform))
}
