import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { listEndpoints } from '../../../../db/webhooks/webhook-endpoints.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { DEFAULT_EVENT_TYPES, WEBHOOK_EVENT_TYPES } from '../../../../domain/webhook.ts'
import {
  type EndpointDraft,
  renderNewWebhook,
  renderRotate,
  renderSigningSecret,
} from '../../../../web/dashboard/developers/webhooks/webhook-form.tsx'
import { renderWebhooks } from '../../../../web/dashboard/developers/webhooks/webhooks.tsx'
import type { Done } from '../../../../web/dashboard/done.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { toFieldErrors } from '../../../http/validation.ts'
import { redeliverFailed, testWebhookEndpoint } from '../../v1/webhooks/deliveries.ts'
import {
  createWebhookEndpoint,
  findOwnEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from '../../v1/webhooks/endpoints.ts'
import { onceField, overlapField } from '../fields.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { atHost, editWebhookPages, endpointForm, endpointPath, toEndpointBody } from './webhook-edit.ts'
import {
  iso,
  REPLAYABLE_MS,
  readEndpointHealth,
  showEndpoint,
  shownEndpoint,
  type WebhookPageDeps,
} from './webhook-views.ts'

const newForm = endpointForm.extend({ once: onceField })

export function webhookPages(deps: WebhookPageDeps): Page[] {
  return [...listPages(deps), ...newPages(deps), ...onePages(deps), ...editWebhookPages(deps), ...secretPages(deps)]
}

function listPages(deps: WebhookPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/webhooks',
      needs: 'look',
      handle: async ({ db, tenant, frame, role, inTurn }) => {
        const found = await listEndpoints(db, tenant)
        const endpoints = await inTurn(async (lists) => {
          const shown = []
          for (const endpoint of found)
            shown.push({
              endpoint: shownEndpoint(endpoint),
              health: await readEndpointHealth(deps, { db: lists, tenant }, endpoint.id),
            })
          return shown
        })
        const mayChange = hasAbility(role, 'develop')
        const html = renderWebhooks({ frame, endpoints, mayChange, now: iso(deps), publicUrl: deps.publicUrl })
        return { html }
      },
    }),
  ]
}

function newPages(deps: WebhookPageDeps): Page[] {
  const path = '/dashboard/webhooks/new'
  const show = ({ frame }: PageCall, draft: EndpointDraft, errors = {}) =>
    renderNewWebhook({
      frame,
      draft,
      errors,
      types: WEBHOOK_EVENT_TYPES,
      once: randomUUID(),
      publicUrl: deps.publicUrl,
    })
  return [
    definePage({
      method: 'get',
      path,
      needs: 'develop',
      handle: async (call) => ({ html: show(call, { url: '', description: '', events: DEFAULT_EVENT_TYPES }) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/webhooks',
      needs: 'develop',
      fresh: { what: ({ url = '' }) => `a new webhook endpoint${atHost(url)}`, back: '/dashboard/webhooks' },
      form: newForm,
      handle: async (call) => {
        const { url, description, event, once: key } = call.form
        const { description: named, ...rest } = toEndpointBody(call.form)
        const body = { ...rest, ...(named !== null && { description: named }) }
        const request = { operation: createWebhookEndpoint, body, once: key }
        const made = await catchRefusal(runOperation(deps, call, request))
        if (!(made instanceof Problem)) return { html: await showSecret(call, made) }
        return { status: 400, html: show(call, { url, description, events: event }, toFieldErrors(made, 'url')) }
      },
    }),
  ]
}

function onePages(deps: WebhookPageDeps): Page[] {
  const acts = (
    { action, done }: { action: string; done: Done },
    work: (call: PageCall<never>, id: string) => Promise<unknown>,
    form?: z.ZodType,
  ): Page =>
    definePage({
      method: 'post',
      path: `/dashboard/webhooks/:id/${action}`,
      needs: 'develop',
      ...(form !== undefined && { form }),
      handle: async (call) => {
        // Checked before the audit log is written, because its entries cannot be removed.
        const { id } = await findOwnEndpoint(call.db, call.tenant, call.params['id'] ?? '')
        const acted = await catchRefusal(work(call as PageCall<never>, id))
        if (acted instanceof Problem) return { status: 409, html: await showEndpoint(deps, call, acted.message) }
        return { to: endpointPath(call.params), done }
      },
    })
  const redeliver = (call: PageCall, id: string) =>
    runOperation(deps, call, { operation: redeliverFailed, params: { id }, body: { since: iso(deps, REPLAYABLE_MS) } })
  const update = (call: PageCall, id: string, enabled: boolean) =>
    runOperation(deps, call, { operation: updateWebhookEndpoint, params: { id }, body: { enabled } })
  return [
    definePage({
      method: 'get',
      path: '/dashboard/webhooks/:id',
      needs: 'look',
      handle: async (call) => ({ html: await showEndpoint(deps, call, null) }),
    }),
    acts({ action: 'test', done: 'endpoint_tested' }, (call, id) =>
      runOperation(deps, call, { operation: testWebhookEndpoint, params: { id } }),
    ),
    acts({ action: 'redeliver', done: 'endpoint_redelivered' }, redeliver),
    acts({ action: 'disable', done: 'endpoint_off' }, (call, id) => update(call, id, false)),
    acts(
      { action: 'enable', done: 'endpoint_on' },
      async (call: PageCall<{ send: string }>, id) => {
        await update(call, id, true)
        if (call.form.send === 'failed') await redeliver(call, id)
      },
      z.object({ send: z.string().max(20).default('') }),
    ),
  ]
}

function secretPages(deps: WebhookPageDeps): Page[] {
  const path = '/dashboard/webhooks/:id/rotate'
  return [
    definePage({
      method: 'get',
      path,
      needs: 'develop',
      handle: async ({ db, tenant, params, frame }) => {
        const endpoint = shownEndpoint(await findOwnEndpoint(db, tenant, params['id'] ?? ''))
        return { html: renderRotate({ frame, endpoint, once: randomUUID() }) }
      },
    }),
    definePage({
      method: 'post',
      path,
      needs: 'develop',
      fresh: { what: 'a new signing secret for a webhook endpoint', back: endpointPath },
      form: z.object({ overlap: overlapField, once: onceField }),
      handle: async (call) => {
        const params = { id: call.params['id'] ?? '' }
        const body = { overlap: Number(call.form.overlap) }
        const request = { operation: rotateWebhookSecret, params, body, once: call.form.once }
        return { html: await showSecret(call, await runOperation(deps, call, request)) }
      },
    }),
  ]
}

type WithSecret = { readonly id: string; readonly secret: string }

async function showSecret({ db, tenant, frame }: PageCall, { id, secret }: WithSecret): Promise<string> {
  const endpoint = await findOwnEndpoint(db, tenant, id)
  return renderSigningSecret({ frame, endpoint: shownEndpoint(endpoint), secret })
}
