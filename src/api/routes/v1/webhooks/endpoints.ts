import type { z } from 'zod'
import { leaveNotice } from '../../../../db/accounts/account-notices.ts'
import type { Session, Tenant, Tx } from '../../../../db/db.ts'
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
import { isMapped, MAPPED_TYPES } from '../../../../domain/btcpay/events.ts'
import { isId } from '../../../../domain/ids.ts'
import { renderEndpoint, type WebhookFormat } from '../../../../domain/webhook.ts'
import { checkEndpointUrl, type TargetRules, urlRefusal } from '../../../../webhooks/endpoint-url.ts'
import type { SecretBox } from '../../../../webhooks/secret-box.ts'
import { newWebhookSecret } from '../../../../webhooks/sign.ts'
import { answerOnce, sealedWith } from '../../../http/idempotency.ts'
import { Problem, refuseField } from '../../../http/problems.ts'
import { defineOperation, NOTHING, WHOLE } from '../../../operation.ts'
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

export type EndpointOperationDeps = StepUp & {
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

export const createWebhookEndpoint = defineOperation({
  name: 'createWebhookEndpoint',
  method: 'post',
  path: '/v1/webhook_endpoints',
  tag: 'Webhooks',
  summary: 'Register a webhook endpoint',
  description: 'The response has the signing secret, which is shown only once.',
  scope: 'webhooks:write',
  audited: withoutSecret,
  idempotency: 'itself',
  body: createEndpointBody,
  answers: { 201: endpointWithSecret },
  problems: ['limit_reached'],
  example: { body: { url: 'https://shop.example/webhooks', enabled_events: ['payment.succeeded'] } },
  handle: async ({ caller, db, body, claim }, deps: EndpointOperationDeps) => {
    const keeping = sealedWith(deps.secretBox, caller, claim)
    return answerOnce(db, { tenant: caller, claim, keeping }, async (tx) => {
      const secret = body.secret ?? newWebhookSecret()
      const endpoint = await addEndpoint(deps, tx, { tenant: caller, secret, wanted: body })
      const headers = { location: `/v1/webhook_endpoints/${endpoint.id}` }
      return { status: 201, body: { ...renderEndpoint(endpoint), secret }, headers }
    })
  },
})

type NewEndpoint = {
  readonly tenant: Tenant
  readonly secret: string
  readonly wanted: z.output<typeof createEndpointBody>
}

export async function addEndpoint(
  deps: EndpointOperationDeps,
  tx: Tx,
  { tenant, secret, wanted }: NewEndpoint,
): Promise<WebhookEndpoint> {
  requireSendable(deps.webhookTargets, wanted.url)
  requireFormat(wanted.format, { types: wanted.enabled_events, secret: wanted.secret })
  await lockMerchant(tx, tenant.merchantId)
  if ((await listEndpoints(tx, tenant)).length >= MOST_ENDPOINTS)
    throw new Problem('limit_reached', `An account has at most ${MOST_ENDPOINTS} endpoints. Delete one first.`)
  const id = deps.newEndpointId()
  const endpoint = await insertEndpoint(tx, tenant, {
    id,
    url: wanted.url,
    description: wanted.description ?? null,
    format: wanted.format,
    enabledEvents: wanted.enabled_events,
    sealedSecret: deps.secretBox.seal(secret, id),
  })
  await leaveNotice(tx, tenant, { kind: CHANGED, data: { endpoint: id, url: endpoint.url } })
  await handOver(deps, endpoint, secret)
  return endpoint
}

export const listWebhookEndpoints = defineOperation({
  name: 'listWebhookEndpoints',
  method: 'get',
  path: '/v1/webhook_endpoints',
  tag: 'Webhooks',
  summary: 'List the webhook endpoints, oldest first',
  scope: 'webhooks:read',
  answers: { 200: listSchema(endpointObject) },
  handle: async ({ caller, db }) => listAnswer((await listEndpoints(db, caller)).map(renderEndpoint), false),
})
export const readWebhookEndpoint = defineOperation({
  name: 'readWebhookEndpoint',
  method: 'get',
  path: '/v1/webhook_endpoints/{id}',
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

export const updateWebhookEndpoint = defineOperation({
  name: 'updateWebhookEndpoint',
  method: 'patch',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhooks',
  summary: 'Change a webhook endpoint, enable or disable it',
  scope: 'webhooks:write',
  audited: withoutSecret,
  params: idPath,
  body: updateEndpointBody,
  answers: { 200: endpointObject },
  problems: ['step_up_required'],
  example: { body: { enabled_events: ['*'], description: 'Everything' } },
  handle: async ({ caller, db, params, body }, deps: EndpointOperationDeps) => {
    requireTestKey(deps, caller, 'webhooks')
    if (body.url !== undefined) requireSendable(deps.webhookTargets, body.url)
    const { url, description, enabled_events: enabledEvents, enabled, secret } = body
    const { id, format } = await findOwnEndpoint(db, caller, params.id)
    requireFormat(format, { types: enabledEvents ?? [], secret })
    const changes = {
      ...(url !== undefined && { url }),
      ...(description !== undefined && { description }),
      ...(enabledEvents !== undefined && { enabledEvents }),
      ...(enabled !== undefined && { enabled }),
      ...(secret !== undefined && { sealedSecret: deps.secretBox.seal(secret, id) }),
    }
    const changed = await db.transaction(async (tx) => {
      const endpoint = await updateEndpoint(tx, caller, { id, changes })
      if (endpoint === null) throw noEndpoint()
      await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: endpoint.id, url: endpoint.url } })
      return endpoint
    })
    return { status: 200, body: renderEndpoint(changed) }
  },
})
export const deleteWebhookEndpoint = defineOperation({
  name: 'deleteWebhookEndpoint',
  method: 'delete',
  path: '/v1/webhook_endpoints/{id}',
  tag: 'Webhooks',
  summary: 'Delete a webhook endpoint with its deliveries',
  scope: 'webhooks:write',
  audited: NOTHING,
  params: idPath,
  answers: { 200: deletedObject },
  problems: ['step_up_required'],
  handle: async ({ caller, db, params: { id } }, deps: EndpointOperationDeps) => {
    requireTestKey(deps, caller, 'webhooks')
    const { url } = await findOwnEndpoint(db, caller, id)
    await db.transaction(async (tx) => {
      if (!(await deleteEndpoint(tx, caller, id))) throw noEndpoint()
      await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: id, url } })
    })
    return { status: 200, body: { id, object: 'webhook_endpoint', deleted: true } as const }
  },
})

export const rotateWebhookSecret = defineOperation({
  name: 'rotateWebhookSecret',
  method: 'post',
  path: '/v1/webhook_endpoints/{id}/rotate_secret',
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
  handle: async ({ caller, db, params: { id }, body, claim }, deps: EndpointOperationDeps) => {
    requireTestKey(deps, caller, 'webhooks')
    await findOwnEndpoint(db, caller, id)
    const keeping = sealedWith(deps.secretBox, caller, claim)
    return answerOnce(db, { tenant: caller, claim, keeping }, async (tx) => {
      const secret = newWebhookSecret()
      const previousExpiresAt = body.overlap === 0 ? null : new Date(deps.clock() + body.overlap * 1000).toISOString()
      const endpoint = await rotateSecret(tx, caller, {
        id,
        sealedSecret: deps.secretBox.seal(secret, id),
        previousExpiresAt,
      })
      if (endpoint === null) throw noEndpoint()
      await handOver(deps, endpoint, secret)
      await leaveNotice(tx, caller, { kind: CHANGED, data: { endpoint: id, url: endpoint.url } })
      return { status: 200, body: { ...renderEndpoint(endpoint), secret } }
    })
  },
})

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
async function handOver(
  { inbox }: EndpointOperationDeps,
  { url, format }: WebhookEndpoint,
  secret: string,
): Promise<void> {
  if (inbox !== null && format === 'standard' && url.startsWith(`${inbox.url}/`)) await inbox.handOver(secret)
}

/** BTCPay has no word for events of refunds, links and endpoints, and its secrets are texts that a shop can choose. */
function requireFormat(
  format: WebhookFormat,
  { types, secret }: { readonly types: readonly string[]; readonly secret: string | undefined },
): void {
  if (format === 'btcpay' && !types.every(isMapped))
    throw refuseField('enabled_events', `must be of ${MAPPED_TYPES.join(', ')} in the format btcpay`)
  if (format === 'standard' && secret !== undefined)
    throw refuseField('secret', 'must be absent in the format standard: rotate the secret to get a new one')
}

function withoutSecret<T extends { readonly secret?: string | undefined }>({ secret: _secret, ...logged }: T): object {
  return logged
}

function requireSendable(rules: TargetRules, url: string): void {
  const check = checkEndpointUrl(url, rules)
  if (!check.ok) throw refuseField('url', urlRefusal(check.reason, rules), 'url_invalid')
}
