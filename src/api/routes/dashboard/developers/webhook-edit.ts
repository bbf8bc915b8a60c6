import { z } from 'zod'
import { ALL_EVENT_TYPES, WEBHOOK_EVENT_TYPES } from '../../../../domain/webhook.ts'
import { renderDeleteWebhook, renderEditWebhook } from '../../../../web/dashboard/developers/webhooks/webhook-edit.tsx'
import type { EndpointDraft } from '../../../../web/dashboard/developers/webhooks/webhook-form.tsx'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { deleteWebhookEndpoint, findOwnEndpoint, updateWebhookEndpoint } from '../../v1/webhooks/endpoints.ts'
import { severalField } from '../fields.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { readEndpointHealth, shownEndpoint, type WebhookPageDeps } from './webhook-views.ts'

export const endpointForm = z.object({
  url: z.string().max(5000).default(''),
  description: z.string().max(2000).default(''),
  event: severalField,
})

export const endpointPath = (params: Readonly<Record<string, string>>): string =>
  `/dashboard/webhooks/${encodeURIComponent(params['id'] ?? '')}`

export const atHost = (url: string): string => (URL.canParse(url.trim()) ? ` at ${new URL(url.trim()).hostname}` : '')

export function toEndpointBody({ url, description, event }: z.output<typeof endpointForm>) {
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description.trim(),
    enabled_events: event.includes(ALL_EVENT_TYPES) ? [ALL_EVENT_TYPES] : event,
  }
}

/** Needs the same confirmation as adding an endpoint: a new URL sends the events elsewhere. */
export function editWebhookPages(deps: WebhookPageDeps): Page[] {
  return [...editPages(deps), ...deletePages(deps)]
}

function editPages(deps: WebhookPageDeps): Page[] {
  const path = '/dashboard/webhooks/:id/edit'
  const show = async (
    { db, tenant, params, frame }: PageCall,
    wrong: { readonly draft: EndpointDraft; readonly errors: Readonly<Record<string, string>> } | null,
  ): Promise<string> => {
    const endpoint = shownEndpoint(await findOwnEndpoint(db, tenant, params['id'] ?? ''))
    const { url, description, events } = endpoint
    const draft = wrong?.draft ?? { url, description: description ?? '', events }
    const { publicUrl } = deps
    return renderEditWebhook({
      frame,
      endpoint,
      draft,
      errors: wrong?.errors ?? {},
      types: WEBHOOK_EVENT_TYPES,
      publicUrl,
    })
  }
  return [
    definePage({
      method: 'get',
      path,
      needs: 'develop',
      handle: async (call) => ({ html: await show(call, null) }),
    }),
    definePage({
      method: 'post',
      path,
      needs: 'develop',
      fresh: { what: ({ url = '' }) => `a change to a webhook endpoint${atHost(url)}`, back: endpointPath },
      form: endpointForm,
      handle: async (call) => {
        const { id } = await findOwnEndpoint(call.db, call.tenant, call.params['id'] ?? '')
        const { url, description, event: events } = call.form
        const request = { operation: updateWebhookEndpoint, params: { id }, body: toEndpointBody(call.form) }
        const saved = await catchRefusal(runOperation(deps, call, request))
        if (!(saved instanceof Problem)) return { to: endpointPath(call.params), done: 'endpoint_saved' }
        const draft = { url, description, events }
        return { status: 400, html: await show(call, { draft, errors: toFieldErrors(saved, 'url') }) }
      },
    }),
  ]
}

function deletePages(deps: WebhookPageDeps): Page[] {
  const path = '/dashboard/webhooks/:id/delete'
  return [
    definePage({
      method: 'get',
      path,
      needs: 'develop',
      handle: async ({ db, tenant, params, frame }) => {
        const endpoint = shownEndpoint(await findOwnEndpoint(db, tenant, params['id'] ?? ''))
        const health = await readEndpointHealth(deps, { db, tenant }, endpoint.id)
        return { html: renderDeleteWebhook({ frame, endpoint, health, publicUrl: deps.publicUrl }) }
      },
    }),
    definePage({
      method: 'post',
      path,
      needs: 'develop',
      fresh: { what: 'the removal of a webhook endpoint', back: endpointPath },
      handle: async (call) => {
        const { id, url } = await findOwnEndpoint(call.db, call.tenant, call.params['id'] ?? '')
        // Logs the URL too: afterwards nothing else shows which endpoint it was.
        await runOperation(deps, call, { operation: deleteWebhookEndpoint, params: { id }, noted: { url } })
        return { to: '/dashboard/webhooks', done: 'endpoint_deleted' }
      },
    }),
  ]
}
