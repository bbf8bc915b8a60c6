import express, { Router } from 'express'
import type { Queryable } from '../../db/db.ts'
import { hastenRefill } from '../../db/settlement/float.ts'
import type { RawCallback } from '../../domain/payment/partner.ts'
import type { RefillCallback } from '../../domain/settlement/refill.ts'
import type { Logger } from '../../runtime/log.ts'
import { Problem } from '../http/problems.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { joinValues } from './callbacks.ts'

export type RefillCallbackDeps = {
  readonly db: Queryable
  /** Null: no partner of refills is configured. */
  readonly readRefillCallback: ((callback: RawCallback) => RefillCallback) | null
  readonly clock: () => number
  readonly log: Logger
  readonly limits: Pick<RequestLimits, 'countVisit'>
}

/** A webhook about a transfer has a worker read the transfer at once: nothing else in it is used. */
export function refillCallbackRouter({ db, readRefillCallback, clock, log, limits }: RefillCallbackDeps): Router {
  const router = Router()
  if (readRefillCallback === null) return router
  router.post('/callbacks/bridge', express.raw({ limit: '64kb', type: () => true }), async (request, response) => {
    const now = clock()
    const reading = readRefillCallback({
      headers: joinValues(request.headers),
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      receivedAt: Math.floor(now / 1000),
    })
    if (reading.kind === 'refused') {
      limits.countVisit(request.ip ?? '', 'act')
      log.warn({ reason: reading.reason, request_id: response.locals['requestId'] }, 'callback of a refill refused')
      throw new Problem(
        reading.reason === 'format' ? 'invalid_request' : 'invalid_callback',
        'The callback is not authentic or cannot be read.',
      )
    }
    if (reading.kind === 'news')
      await hastenRefill(db, {
        id: reading.refillId,
        reference: reading.reference,
        at: new Date(now).toISOString(),
      })
    response.status(200).json({ received: true })
  })
  return router
}
