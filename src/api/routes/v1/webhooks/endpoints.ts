import { leaveNotice } from '../../../../db/accounts/account-notices.ts'
import type { Session, Tenant } from '../../../../db/db.ts'
import { lockMerchant } from '../../../../db/merchants/merchants.ts'
import {
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
  type WebhookEndpoint,
} from '../../../../db/webhooks/webhook-endpoints.ts'
import { isId } from '../../../../domain/ids.ts'
import { renderEndpoint } from '../../../../domain/webhook.ts'
import { checkEndpointUrl, type TargetRules, urlRefusal } from '../../../../webhooks/endpoint-url.ts'
import type { SecretBox } from '../../../../webhooks/secret-box.ts'
import { newWebhookSecret } from '../../../../webhooks/sign.ts'
import { answerOnce, createClaim, sealedWith } from '../../../http/idempotency.ts'
import { Problem } from '../../../http/problems.ts'
import { defineRoute, NOTHING, type Route, WHOLE } from '../../../route.ts'
import { idPath } from '../fields.ts'
import { listAnswer, listSchema } from '../lists.ts'
import { requireTestKey, type StepUp } from '../step-up.ts'
import {
  createEndpointBody,
  deletedObject,
  endpointObject,
  endpointWithSecret,
  rotateSecretBody,
  updateEndpointBody,
} from './endpoint-schemas.ts'

export type EndpointRouteDeps = StepUp & {
  readonly clock: () => number
  readonly secretBox: SecretBox
  readonly webhookTargets: TargetRules
  readonly newEndpointId: () => string
  /** Null unless the whole system runs on one machine. */
  readonly inbox: LocalInbox | null
}

/** The inbox of `npm start`, which verifies with every secret that it has received. */
export type LocalInbox = {
  readonly url: string
  readonly handOver: (secret: string) => Promise<void>
}

/** A new or changed endpoint sends events to another reader, or to none, so people are notified. */
const CHANGED = 'webhook_endpoint.changed'

const MOST_ENDPOINTS = 16

export function endpointRoutes(deps: EndpointRouteDeps): Route[] {
  return [createRoute(deps), ...readRoutes(), ...changeRoutes(deps), rotateRoute(deps)]
}

function createRoute(deps: EndpointRouteDeps): Route {
  const { secretBox } = deps
  return defineRoute({
    method: 'post',
    path: '/v1/webhook_endpoints',
    operationId: 'createWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Register a webhook endpoint',
    description: 'The response has the signing secret, which is shown only once.',
    scope: 'webhooks:write',
    audited: WHOLE,
    idempotency: 'itself',
    body: createEndpointBody(deps.webhookTargets.mode),
    answers: { 201: endpointWithSecret },
    problems: ['limit_reached'],
    example: { body: { url: 'https://shop.example/webhooks', enabled_events: ['payment.succeeded'] } },
    handle: async ({ caller, db, body, idempotencyKey }) => {
      requireSendable(deps.webhookTargets, body.url)
      const claim = createClaim('POST /v1/webhook_endpoints', idempotencyKey, body)
      return answerOnce(db, { tenant: caller, claim, keeping: sealedWith(secretBox, caller, claim) }, async (tx) => {
        await lockMerchant(tx, caller.merchantId)
        if ((await listEndpoints(tx, caller)).length >= MOST_ENDPOINTS)
          throw new Problem('limit_reached', `An account has at most ${MOST_ENDPOINTS} endpoints. Delete one first.`)
        const id = deps.newEndpointId()
        const secret = newWebhookSecret()
        const endpoint = await insertEndpoint(tx, caller, {
          id,
          url: body.url,
          description: body.description ?? null,
          enabledEvents: body.enabled_events,
          sealedSecret: secretBox.seal(secret, id),
        })
        await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: id, url: endpoint.url } })
        await handOver(deps, endpoint, secret)
        const headers = { location: `/v1/webhook_endpoints/${id}` }
        return { status: 201, body: { ...renderEndpoint(endpoint), secret }, headers }
      })
    },
  })
}

function readRoutes(): Route[] {
  const list = defineRoute({
    method: 'get',
    path: '/v1/webhook_endpoints',
    operationId: 'listWebhookEndpoints',
    tag: 'Webhooks',
    summary: 'List the webhook endpoints, oldest first',
    scope: 'webhooks:read',
    answers: { 200: listSchema(endpointObject) },
    handle: async ({ caller, db }) => listAnswer((await listEndpoints(db, caller)).map(renderEndpoint), false),
  })
  const read = defineRoute({
    method: 'get',
    path: '/v1/webhook_endpoints/{id}',
    operationId: 'readWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Read a webhook endpoint',
    scope: 'webhooks:read',
    params: idPath,
    answers: { 200: endpointObject },
    handle: async ({ caller, db, params }) => ({
      status: 200,
      body: renderEndpoint(await findOwnEndpoint(db, caller, params.id)),
    }),
  })
  return [list, read]
}

function changeRoutes(deps: EndpointRouteDeps): Route[] {
  const { webhookTargets } = deps
  const update = defineRoute({
    method: 'patch',
    path: '/v1/webhook_endpoints/{id}',
    operationId: 'updateWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Change a webhook endpoint, enable or disable it',
    scope: 'webhooks:write',
    audited: WHOLE,
    params: idPath,
    body: updateEndpointBody(webhookTargets.mode),
    answers: { 200: endpointObject },
    problems: ['step_up_required'],
    example: { body: { enabled_events: ['*'], description: 'Everything' } },
    handle: async ({ caller, db, params, body }) => {
      requireTestKey(deps, caller, 'webhooks')
      if (body.url !== undefined) requireSendable(webhookTargets, body.url)
      const { url, description, enabled_events: enabledEvents, enabled } = body
      const changes = {
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description }),
        ...(enabledEvents !== undefined && { enabledEvents }),
        ...(enabled !== undefined && { enabled }),
      }
      const changed = await db.transaction(async (tx) => {
        const endpoint = isEndpointId(params.id) ? await updateEndpoint(tx, caller, { id: params.id, changes }) : null
        if (endpoint === null) throw noEndpoint()
        await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: endpoint.id, url: endpoint.url } })
        return endpoint
      })
      return { status: 200, body: renderEndpoint(changed) }
    },
  })
  const remove = defineRoute({
    method: 'delete',
    path: '/v1/webhook_endpoints/{id}',
    operationId: 'deleteWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Delete a webhook endpoint with its deliveries',
    scope: 'webhooks:write',
    audited: NOTHING,
    params: idPath,
    answers: { 200: deletedObject },
    problems: ['step_up_required'],
    handle: async ({ caller, db, params: { id } }) => {
      requireTestKey(deps, caller, 'webhooks')
      const { url } = await findOwnEndpoint(db, caller, id)
      await db.transaction(async (tx) => {
        if (!(await deleteEndpoint(tx, caller, id))) throw noEndpoint()
        await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: id, url } })
      })
      return { status: 200, body: { id, object: 'webhook_endpoint', deleted: true } }
    },
  })
  return [update, remove]
}

function rotateRoute(deps: EndpointRouteDeps): Route {
  const { clock, secretBox } = deps
  return defineRoute({
    method: 'post',
    path: '/v1/webhook_endpoints/{id}/rotate_secret',
    operationId: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Rotate the secret of a webhook endpoint',
    description: 'During the overlap both secrets sign. Rotating again expires the oldest one immediately.',
    scope: 'webhooks:write',
    audited: WHOLE,
    idempotency: 'itself',
    params: idPath,
    body: rotateSecretBody,
    answers: { 200: endpointWithSecret },
    problems: ['step_up_required'],
    example: { body: { overlap: 3600 } },
    handle: async ({ caller, db, params: { id }, body, idempotencyKey }) => {
      requireTestKey(deps, caller, 'webhooks')
      const claim = createClaim(`POST /v1/webhook_endpoints/${id}/rotate_secret`, idempotencyKey, body)
      await findOwnEndpoint(db, caller, id)
      return answerOnce(db, { tenant: caller, claim, keeping: sealedWith(secretBox, caller, claim) }, async (tx) => {
        const secret = newWebhookSecret()
        const previousExpiresAt = body.overlap === 0 ? null : new Date(clock() + body.overlap * 1000).toISOString()
        const endpoint = await rotateSecret(tx, caller, {
          id,
          sealedSecret: secretBox.seal(secret, id),
          previousExpiresAt,
        })
        if (endpoint === null) throw noEndpoint()
        await handOver(deps, endpoint, secret)
        await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: id, url: endpoint.url } })
        return { status: 200, body: { ...renderEndpoint(endpoint), secret } }
      })
    },
  })
}

/** One `resource_missing` (404) for malformed and unknown ids, and for endpoints of other accounts. */
export async function findOwnEndpoint(db: Session, tenant: Tenant, id: string): Promise<WebhookEndpoint> {
  const endpoint = isEndpointId(id) ? await findEndpoint(db, tenant, id) : null
  if (endpoint === null) throw noEndpoint()
  return endpoint
}

function isEndpointId(id: string): boolean {
  // `npm start` registers an endpoint with a fixed id that `newId` would not make.
  return isId('endpoint', id) || /^we_[0-9a-z]{26}$/.test(id)
}

function noEndpoint(): Problem {
  return new Problem('resource_missing', 'There is no such webhook endpoint.')
}

/** A merchant's developer copies the secret to the server. The inbox of this machine receives it here. */
async function handOver({ inbox }: EndpointRouteDeps, { url }: WebhookEndpoint, secret: string): Promise<void> {
  if (inbox !== null && url.startsWith(`${inbox.url}/`)) await inbox.handOver(secret)
}

function requireSendable(rules: TargetRules, url: string): void {
  const check = checkEndpointUrl(url, rules)
  if (check.ok) return
  const message = `url: ${urlRefusal(check.reason, rules)}.`
  throw new Problem('validation_failed', message, {
    param: 'url',
    errors: [{ pointer: '/url', code: 'url_invalid', message }],
  })
}
