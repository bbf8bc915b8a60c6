import { z } from 'zod'
import {
  type DeliveryEntry,
  listDeliveries as listStoredDeliveries,
  readDelivery,
  recordTestEvent,
  reviveDelivery,
  reviveFailed,
} from '../../../../db/webhooks/event-log.ts'
import type { WebhookEndpoint } from '../../../../db/webhooks/webhook-endpoints.ts'
import { isId } from '../../../../domain/ids.ts'
import { explainDiagnosis } from '../../../../domain/webhook-diagnosis.ts'
import type { DeliveryWorkflows } from '../../../../temporal/deliveries.ts'
import { answerOnce } from '../../../http/idempotency.ts'
import { Problem } from '../../../http/problems.ts'
import type { RequestLimits } from '../../../limits/request-limits.ts'
import { defineOperation, NOTHING, WHOLE } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { cursorSchema, listAnswer, listSchema, noCursor, pageQuery, readPage, since } from '../lists.ts'
import { deliveryObject, diagnosisObject, redeliveryObject, testEventObject } from './endpoint-schemas.ts'
import { findOwnEndpoint } from './endpoints.ts'

export type DeliveryOperationDeps = {
  readonly clock: () => number
  readonly deliveries: DeliveryWorkflows
  readonly limits: Pick<RequestLimits, 'countSend'>
}

const AT_ONCE = 20
/** Deliveries that a redelivery starts; the worker's sweep starts the others. */
const MOST_STARTED = 500
/** Milliseconds in which failed deliveries can be sent again. */
const REPLAYABLE_MS = 30 * 86_400_000
const API_VERSION = 'v1'

export const listDeliveries = defineOperation({
  name: 'listDeliveries',
  method: 'get',
  path: '/v1/webhook_endpoints/{id}/deliveries',
  tag: 'Webhooks',
  summary: 'List the deliveries to an endpoint, newest event first',
  scope: 'webhooks:read',
  params: idPath,
  query: z.strictObject({
    ...pageQuery('event'),
    status: z.enum(['pending', 'delivered', 'exhausted', 'disabled']).optional(),
    event: cursorSchema('event').optional(),
  }),
  answers: { 200: listSchema(deliveryObject) },
  handle: async ({ caller, db, params, query }) => {
    const { id } = await findOwnEndpoint(db, caller, params.id)
    const filters = { status: query.status, event: query.event }
    const page = readPage(query)
    const found = await listStoredDeliveries(db, caller, { endpointId: id, filters, page })
    if (found === null) throw noCursor(page)
    return listAnswer(found.rows.map(renderDelivery), found.hasMore)
  },
})

export const testWebhookEndpoint = defineOperation({
  name: 'testWebhookEndpoint',
  method: 'post',
  path: '/v1/webhook_endpoints/{id}/test',
  tag: 'Webhooks',
  summary: 'Send a signed event of the type webhook.test',
  description: 'It is sent once, without retries. The next one can be sent when this one has its response.',
  scope: 'webhooks:write',
  idempotency: 'itself',
  params: idPath,
  answers: { 202: testEventObject },
  problems: ['not_possible_now'],
  reachesOut: true,
  handle: async ({ caller, db, params, claim }, { clock, deliveries, limits }: DeliveryOperationDeps) => {
    const endpoint = requireEnabled(await findOwnEndpoint(db, caller, params.id))
    const { merchantId } = caller
    let event = ''
    const answer = await answerOnce(db, { tenant: caller, claim }, async (tx) => {
      const at = new Date(clock()).toISOString()
      limits.countSend(caller)
      const recorded = await recordTestEvent(tx, caller, { endpointId: endpoint.id, at, apiVersion: API_VERSION })
      if (recorded === null)
        throw new Problem('not_possible_now', 'The last test event has no response yet. Find it in the deliveries.')
      event = recorded
      return { status: 202, body: { object: 'test_event', event, endpoint: endpoint.id } as const }
    })
    if (event !== '')
      await deliveries.deliverNow({ eventId: event, endpointId: endpoint.id, merchantId, attemptsDone: 0 })
    return answer
  },
})

export const redeliverEvent = defineOperation({
  name: 'redeliverEvent',
  method: 'post',
  path: '/v1/webhook_endpoints/{id}/deliveries/{event}/redeliver',
  audited: NOTHING,
  reachesOut: true,
  tag: 'Webhooks',
  summary: 'Resend an event to an endpoint, with the same id and bytes',
  description: 'The schedule of retries starts again, also for an event that arrived.',
  scope: 'webhooks:write',
  params: z.object({ id: z.string(), event: z.string() }),
  answers: { 202: deliveryObject },
  problems: ['not_possible_now'],
  handle: async ({ caller, db, params }, { deliveries, limits }: DeliveryOperationDeps) => {
    const { id } = requireEnabled(await findOwnEndpoint(db, caller, params.id))
    const target = { endpointId: id, eventId: params.event }
    limits.countSend(caller)
    const revived = isId('event', params.event) ? await reviveDelivery(db, caller, target) : null
    if (revived === null) throw noDelivery()
    await deliveries.deliverNow({ ...target, merchantId: caller.merchantId, attemptsDone: revived.attempts })
    const delivery = await readDelivery(db, caller, target)
    if (delivery === null) throw noDelivery()
    return { status: 202, body: renderDelivery(delivery) }
  },
})

export const diagnoseDelivery = defineOperation({
  name: 'diagnoseDelivery',
  method: 'post',
  path: '/v1/webhook_endpoints/{id}/deliveries/{event}/diagnose',
  audited: NOTHING,
  reachesOut: true,
  tag: 'Webhooks',
  summary: 'Find out why an endpoint refuses an event',
  description:
    'Sends the event with the right signature, and if the endpoint refuses it, with up to 30 signatures that an endpoint with a usual mistake accepts. `cause` names the mistake. It takes at most 20 seconds, and your endpoint might process the event.',
  scope: 'webhooks:write',
  params: z.object({ id: z.string(), event: z.string() }),
  answers: { 200: diagnosisObject },
  problems: ['not_possible_now'],
  handle: async ({ caller, db, params }, { deliveries, limits }: DeliveryOperationDeps) => {
    const { id } = requireEnabled(await findOwnEndpoint(db, caller, params.id))
    if ((await readDelivery(db, caller, { endpointId: id, eventId: params.event })) === null) throw noDelivery()
    limits.countSend(caller)
    const diagnosis = await deliveries.diagnose({
      eventId: params.event,
      endpointId: id,
      merchantId: caller.merchantId,
    })
    if (diagnosis === 'running')
      throw new Problem('not_possible_now', 'A diagnosis of this endpoint is running. Try again in 20 seconds.')
    if (diagnosis === null)
      throw new Problem('not_possible_now', 'The diagnosis has failed, or took too long. Try again in a minute.')
    const { cause, requests } = diagnosis
    const message = explainDiagnosis(diagnosis)
    return {
      status: 200,
      body: { object: 'delivery_diagnosis', event: params.event, endpoint: id, cause, message, requests } as const,
    }
  },
})

export const redeliverFailed = defineOperation({
  name: 'redeliverFailed',
  method: 'post',
  path: '/v1/webhook_endpoints/{id}/redeliver_failed',
  audited: WHOLE,
  reachesOut: true,
  tag: 'Webhooks',
  summary: 'Resend every failed event since a time',
  description: 'At most 30 days back. Deliveries that are still being retried stay as they are.',
  scope: 'webhooks:write',
  params: idPath,
  body: z.strictObject({ since }),
  answers: { 202: redeliveryObject },
  problems: ['not_possible_now'],
  example: { body: { since: '2026-11-01T00:00:00Z' } },
  handle: async ({ caller, db, params, body }, { clock, deliveries, limits }: DeliveryOperationDeps) => {
    const { merchantId } = caller
    const { id } = requireEnabled(await findOwnEndpoint(db, caller, params.id))
    limits.countSend(caller)
    const oldest = new Date(clock() - REPLAYABLE_MS).toISOString()
    const from = body.since > oldest ? body.since : oldest
    const revived = await reviveFailed(db, caller, { endpointId: id, since: from })
    const started = revived.slice(0, MOST_STARTED)
    for (let next = 0; next < started.length; next += AT_ONCE) {
      const wave = started.slice(next, next + AT_ONCE)
      const answers = await Promise.all(
        wave.map(({ event_id, attempts }) =>
          deliveries.deliverNow({ eventId: event_id, endpointId: id, merchantId, attemptsDone: attempts }),
        ),
      )
      // Temporal does not respond. The worker's sweep starts the rest when it does.
      if (answers.includes(false)) break
    }
    return { status: 202, body: { object: 'redelivery', endpoint: id, deliveries: revived.length } as const }
  },
})

const noDelivery = (): Problem => new Problem('resource_missing', 'There is no such delivery.')

function requireEnabled(endpoint: WebhookEndpoint): WebhookEndpoint {
  if (endpoint.disabled_at === null) return endpoint
  throw new Problem('not_possible_now', 'The endpoint is disabled. Enable it first.', {
    members: { disabled_reason: endpoint.disabled_reason },
  })
}

function renderDelivery(delivery: DeliveryEntry): z.output<typeof deliveryObject> {
  const { event_id, endpoint_id, type, status, attempts, created_at, last_attempt_at, delivered_at, log } = delivery
  const times = { created_at, last_attempt_at, delivered_at }
  return { object: 'delivery', event: event_id, endpoint: endpoint_id, type, status, attempts, ...times, log }
}
