import { readDelivery, readEvent } from '../../../../db/webhooks/event-log.ts'
import type { WebhookEndpoint } from '../../../../db/webhooks/webhook-endpoints.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import type { WebhookFormat } from '../../../../domain/webhook.ts'
import { type DeliveryPage, renderDelivery } from '../../../../web/dashboard/developers/webhooks/delivery.tsx'
import type { TryShown } from '../../../../web/dashboard/developers/webhooks/delivery-words.tsx'
import { renderRequest } from '../../../../webhooks/formats.ts'
import { OWN_HEADERS } from '../../../../webhooks/send.ts'
import { newWebhookSecret, signsAt } from '../../../../webhooks/sign.ts'
import { catchRefusal, Problem } from '../../../http/problems.ts'
import { SiteProblem } from '../../site-problem.ts'
import { diagnoseDelivery, redeliverEvent } from '../../v1/webhooks/deliveries.ts'
import { findOwnEndpoint } from '../../v1/webhooks/endpoints.ts'
import { runOperation } from '../operations.ts'
import { definePage, type Page, type PageCall } from '../page.ts'
import { shownDelivery, shownEndpoint, type WebhookPageDeps } from './webhook-views.ts'

const PATH = '/dashboard/webhooks/:id/deliveries/:event'

export function deliveryPages(deps: WebhookPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: PATH,
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call) }),
    }),
    definePage({
      method: 'post',
      path: `${PATH}/redeliver`,
      needs: 'develop',
      handle: async (call) => {
        const { endpoint, delivery } = await find(call)
        const params = { id: endpoint.id, event: delivery.event }
        const queued = await catchRefusal(runOperation(deps, call, { operation: redeliverEvent, params }))
        if (queued instanceof Problem) return { status: 409, html: await show(deps, call, { problem: queued.message }) }
        return { to: `/dashboard/webhooks/${endpoint.id}/deliveries/${delivery.event}`, done: 'delivery_queued' }
      },
    }),
    definePage({
      method: 'post',
      path: `${PATH}/diagnose`,
      needs: 'develop',
      handle: async (call) => {
        const { endpoint, delivery } = await find(call)
        const params = { id: endpoint.id, event: delivery.event }
        const found = await catchRefusal(runOperation(deps, call, { operation: diagnoseDelivery, params }))
        if (found instanceof Problem) return { status: 409, html: await show(deps, call, { problem: found.message }) }
        return { html: await show(deps, call, { diagnosis: found }) }
      },
    }),
  ]
}

async function find({ db, tenant, params }: PageCall) {
  const { id = '', event = '' } = params
  const endpoint = await findOwnEndpoint(db, tenant, id)
  const delivery = await readDelivery(db, tenant, { endpointId: endpoint.id, eventId: event })
  const body = delivery === null ? null : await readEvent(db, tenant, event)
  if (delivery === null || body === null) throw new SiteProblem('not_found')
  return {
    stored: endpoint,
    endpoint: shownEndpoint(endpoint),
    delivery: shownDelivery(delivery),
    body: body.toString(),
  }
}

type SentShown = Pick<DeliveryPage, 'sent' | 'body'>

const SIGNATURES: Readonly<Record<WebhookFormat, string>> = { standard: 'webhook-signature', btcpay: 'BTCPay-Sig' }

/** Headers and body are not stored but computed again for the time of the try. */
function computeSent(
  { secretBox }: WebhookPageDeps,
  { id, body, tried, endpoint }: { id: string; body: string; tried: TryShown | null; endpoint: WebhookEndpoint },
): SentShown {
  const { format, merchant_id: merchantId, updated_at: updatedAt } = endpoint
  const at = tried === null ? 0 : Date.parse(tried.at)
  const sealed = endpoint.secrets.filter((secret) => signsAt(secret, at))
  const secrets = sealed.flatMap((secret) => openSecret(secretBox, secret.sealed, endpoint.id) ?? [])
  const request = renderRequest({
    format,
    eventId: id,
    endpointId: endpoint.id,
    merchantId,
    body: Buffer.from(body),
    at,
    // The signature of another secret is not shown.
    secrets: secrets.length === 0 ? [newWebhookSecret()] : secrets,
  })
  // A secret that was added after the try did not sign it, and one that cannot be opened signs nothing here.
  const isSame = updatedAt.getTime() <= at && secrets.length === sealed.length && secrets.length > 0
  const signed = tried === null ? {} : { ...request.headers, ...(!isSame && { [SIGNATURES[format]]: null }) }
  const named = format === 'standard' ? { 'webhook-id': id } : {}
  const fixed = { ...OWN_HEADERS, 'content-length': String(request.body.length) }
  return { sent: { ...fixed, ...named, ...signed }, body: request.body.toString() }
}

/** Null: no key of the platform opens it. The rest of the page is shown anyway. */
function openSecret(secretBox: WebhookPageDeps['secretBox'], sealed: string, endpointId: string): string | null {
  try {
    return secretBox.open(sealed, endpointId)
  } catch {
    return null
  }
}

type Said = { readonly problem?: string; readonly diagnosis?: DeliveryPage['diagnosis'] }

async function show(deps: WebhookPageDeps, call: PageCall, said: Said = {}): Promise<string> {
  const { publicUrl } = deps
  const { stored, endpoint, delivery, body } = await find(call)
  const chosen = delivery.log.find(({ number }) => String(number) === call.query['try']) ?? delivery.log.at(-1) ?? null
  const mayChange = hasAbility(call.role, 'develop')
  const computed = computeSent(deps, { id: delivery.event, body, tried: chosen, endpoint: stored })
  const { problem = null, diagnosis = null } = said
  return renderDelivery({
    frame: call.frame,
    endpoint,
    delivery,
    ...computed,
    chosen,
    mayChange,
    problem,
    diagnosis,
    publicUrl,
  })
}
