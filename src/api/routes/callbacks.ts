import { createHash } from 'node:crypto'
import express, { type Request, type RequestHandler, Router } from 'express'
import type { Queryable } from '../../db/db.ts'
import { bringSweepForward } from '../../db/partners/disputes.ts'
import { recordCallback } from '../../db/payments/partner-callbacks.ts'
import { isProviderName } from '../../domain/methods.ts'
import { MAX_CALLBACK_BYTES, type RawCallback, type ReadCallback } from '../../domain/payment/partner.ts'
import type { Logger } from '../../runtime/log.ts'
import type { PaymentWorkflows } from '../../temporal/payments.ts'
import { Problem } from '../http/problems.ts'
import { getNetwork, isOwnMachine } from '../limits/network.ts'
import type { RequestLimits } from '../limits/request-limits.ts'
import { refuseOthers } from '../route.ts'

export type CallbackDeps = {
  readonly db: Queryable
  readonly readCallback: ReadCallback
  readonly workflows: Pick<PaymentWorkflows, 'signalOrderChanged'>
  readonly clock: () => number
  readonly log: Logger
  readonly limits: Pick<RequestLimits, 'countVisit'>
}

const USUAL_BYTES = 64 * 1024
/** Bodies of one process that can be larger and are read at the same moment. */
export const MOST_LARGE = 16
/** Those of one network: partners send few callbacks at once, and strangers must not take all places. */
const MOST_LARGE_OF_NETWORK = 2

/**
 * Reads the body of a callback before its signature can be checked, so anybody can send one slowly: only a few large
 * ones are read at once, and of one network fewer. A large callback that finds no room gets 413, and its partner sends it again; any other one
 * always finds room.
 */
export function readCallbackBody(): RequestHandler<Record<string, string>> {
  const readUsual = express.raw({ limit: USUAL_BYTES, type: () => true })
  const readLarge = express.raw({ limit: MAX_CALLBACK_BYTES, type: () => true })
  const large: string[] = []
  return (request, response, next) => {
    // Encoded bytes can become many more.
    const isEncoded = request.get('content-encoding') !== undefined
    const isUsual = !isEncoded && Number(request.get('content-length') ?? Infinity) <= USUAL_BYTES
    if (isUsual || !hasRoom(large, request.ip ?? '')) return readUsual(request, response, next)
    const network = getNetwork(request.ip ?? '')
    large.push(network)
    response.once('close', () => void large.splice(large.indexOf(network), 1))
    readLarge(request, response, next)
  }
}

/** `large`: the networks of the large ones that are being read. */
function hasRoom(large: readonly string[], address: string): boolean {
  if (large.length >= MOST_LARGE) return false
  const network = getNetwork(address)
  return isOwnMachine(address) || large.filter((one) => one === network).length < MOST_LARGE_OF_NETWORK
}

/**
 * Verifies the raw bytes, stores each callback once, then signals the workflow to read the order again. The response is
 * 2xx only after both. After any other response, or a crash, the partner sends the callback again. An authentic callback
 * that is not about an order of this deployment is answered 2xx and changes nothing. One about a dispute makes the
 * partner's disputes be listed soon.
 */
export function callbackRouter(deps: CallbackDeps): Router {
  const router = Router()
  router.post('/callbacks/:provider', readCallbackBody(), async (request, response) => {
    const { provider } = request.params
    if (provider === undefined || !isProviderName(provider)) {
      deps.limits.countVisit(request.ip ?? '', 'act')
      throw new Problem('route_missing', 'There is no such partner.')
    }
    const now = deps.clock()
    const callback = toRawCallback(request, now)
    const reading = deps.readCallback(provider, callback)
    if (reading.kind === 'refused') return refuseCallback(deps, request, { provider, reason: reading.reason })
    if (reading.kind === 'dispute') await bringSweepForward(deps.db, provider)
    const stored =
      reading.kind === 'order'
        ? await recordCallback(deps.db, {
            provider,
            eventId: reading.eventId,
            subject: reading.subject,
            bodySha256: createHash('sha256').update(callback.body).digest(),
            at: new Date(now).toISOString(),
          })
        : null
    if (stored !== null && !stored.applied) {
      await deps.workflows.signalOrderChanged(stored.payment_id, stored.attempt_id).catch((error: unknown) => {
        deps.log.warn({ err: error, provider }, 'callback stored, but the workflow could not be signaled yet')
        throw new Problem('temporarily_unavailable', 'Stored, but not passed on yet. Send it again.', {
          headers: { 'retry-after': '5' },
        })
      })
    }
    // A partner that gets an error for its other events stops sending any.
    if (stored === null && reading.kind !== 'dispute')
      deps.log.info({ provider }, 'an authentic callback that is not about an order of this deployment')
    response.status(200).json({ received: true })
  })
  router.all('/callbacks/:provider', refuseOthers(deps, ['POST']))
  return router
}

/** `now` is in Unix milliseconds. */
export const toRawCallback = ({ headers, body }: Request, now: number): RawCallback => ({
  headers: joinValues(headers),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  receivedAt: Math.floor(now / 1000),
})

type Refused = { readonly provider: string; readonly reason: 'signature' | 'timestamp' | 'format' }

/** Counts and logs the refusal. Throws the answer. */
export function refuseCallback(
  { limits, log }: Pick<CallbackDeps, 'limits' | 'log'>,
  request: Request,
  refused: Refused,
): never {
  limits.countVisit(request.ip ?? '', 'act')
  log.warn({ ...refused, request_id: request.res?.locals['requestId'] }, 'callback refused')
  throw new Problem(
    refused.reason === 'format' ? 'invalid_request' : 'invalid_callback',
    'The callback is not authentic or cannot be read.',
  )
}

function joinValues(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  )
}
