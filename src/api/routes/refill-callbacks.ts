import { Router } from 'express'
import type { Queryable } from '../../db/db.ts'
import { hastenRefill } from '../../db/settlement/float.ts'
import type { RawCallback } from '../../domain/payment/partner.ts'
import type { RefillCallback } from '../../domain/settlement/refill.ts'
import type { Logger } from '../../runtime/log.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { readCallbackBody, refuseCallback, toRawCallback } from './callbacks.ts'

export type RefillCallbackDeps = {
  readonly db: Queryable
  /** Null: no partner of refills is configured. */
  readonly readRefillCallback: ((callback: RawCallback) => RefillCallback) | null
  readonly clock: () => number
  readonly log: Logger
  readonly limits: Pick<RequestLimits, 'countVisit'>
}

/** A webhook about a transfer has a worker read the transfer at once: nothing else in it is used. */
export function refillCallbackRouter(deps: RefillCallbackDeps): Router {
  const { db, readRefillCallback, clock } = deps
  const router = Router()
  if (readRefillCallback === null) return router
  router.post('/callbacks/bridge', readCallbackBody(), async (request, response) => {
    const now = clock()
    const reading = readRefillCallback(toRawCallback(request, now))
    if (reading.kind === 'refused') return refuseCallback(deps, request, { provider: 'bridge', reason: reading.reason })
    if (reading.kind === 'transfer')
      await hastenRefill(db, {
        id: reading.refillId,
        reference: reading.reference,
        at: new Date(now).toISOString(),
      })
    response.status(200).json({ received: true })
  })
  return router
}
