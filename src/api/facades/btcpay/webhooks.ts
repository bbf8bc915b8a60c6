import { z } from 'zod'
import { INVOICE_EVENTS, listInvoiceEvents, listSubscribedTypes, MAPPED_TYPES } from '../../../domain/btcpay/events.ts'
import type { renderEndpoint } from '../../../domain/webhook.ts'
import { Problem, refuseField } from '../../http/problems.ts'
import { parseOrExplain } from '../../http/validation.ts'
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  updateWebhookEndpoint,
} from '../../routes/v1/webhooks/endpoints.ts'
import type { FacadeCall, Handle } from './serve.ts'

/** Endpoints of the format `btcpay`. Those of another format do not exist here. */

type Endpoint = ReturnType<typeof renderEndpoint>

const webhookBody = z.looseObject({
  url: z.string(),
  enabled: z.boolean().nullish(),
  secret: z.string().nullish(),
  authorizedEvents: z
    .looseObject({ everything: z.boolean().nullish(), specificEvents: z.array(z.string()).nullish() })
    .nullish(),
})

export const createWebhook: Handle = async ({ request, ask }) => {
  const body = parseOrExplain(webhookBody, request.body)
  const types = readTypes(body) ?? MAPPED_TYPES
  if (body.enabled === false) throw refuseField('enabled', 'must be true: disable the webhook when it exists')
  const { secret, ...endpoint } = await ask<Endpoint & { readonly secret: string }>(createWebhookEndpoint, {
    body: { url: body.url, enabled_events: types, format: 'btcpay', ...readSecret(body) },
  })
  return { ...renderWebhook(endpoint), secret }
}

export const listWebhooks: Handle = async ({ ask }) => {
  const { data } = await ask<{ readonly data: readonly Endpoint[] }>(listWebhookEndpoints)
  return data.filter(isOurs).map(renderWebhook)
}

export const readWebhook: Handle = async (call) => renderWebhook(await findWebhook(call))

export const updateWebhook: Handle = async (call) => {
  const { id } = await findWebhook(call)
  const body = parseOrExplain(webhookBody, call.request.body)
  const types = readTypes(body)
  const { url, enabled } = body
  const changes = {
    url,
    ...(types !== null && { enabled_events: types }),
    ...(typeof enabled === 'boolean' && { enabled }),
    ...readSecret(body),
  }
  return renderWebhook(await call.ask<Endpoint>(updateWebhookEndpoint, { params: { id }, body: changes }))
}

export const deleteWebhook: Handle = async (call) => {
  const { id } = await findWebhook(call)
  await call.ask(deleteWebhookEndpoint, { params: { id } })
  return undefined
}

async function findWebhook({ ask, request }: FacadeCall): Promise<Endpoint> {
  const endpoint = await ask<Endpoint>(readWebhookEndpoint, { params: { id: String(request.params['id'] ?? '') } })
  if (!isOurs(endpoint)) throw new Problem('resource_missing', 'There is no such webhook.')
  return endpoint
}

const isOurs = ({ format }: Endpoint): boolean => format === 'btcpay'

/** Null: the request names none. `InvoicePaymentSettled` alone would never be sent, so it is no subscription. */
function readTypes({ authorizedEvents }: z.output<typeof webhookBody>): readonly string[] | null {
  if (authorizedEvents === null || authorizedEvents === undefined) return null
  if (authorizedEvents.everything === true) return MAPPED_TYPES
  const types = listSubscribedTypes(authorizedEvents.specificEvents ?? [])
  if (types.length > 0) return types
  const known = [...new Set(Object.values(INVOICE_EVENTS))].join(', ')
  throw refuseField('authorizedEvents', `must be everything, or name at least one of ${known}`)
}

const readSecret = ({ secret }: z.output<typeof webhookBody>): { readonly secret?: string } =>
  secret === null || secret === undefined || secret === '' ? {} : { secret }

function renderWebhook({ id, url, status, enabled_events }: Endpoint): object {
  const events = listInvoiceEvents(enabled_events)
  const everything = MAPPED_TYPES.every((type) => enabled_events.includes(type))
  return {
    id,
    enabled: status === 'enabled',
    // Failed deliveries are always repeated.
    automaticRedelivery: true,
    url,
    authorizedEvents: { everything, specificEvents: everything ? [] : events },
  }
}
