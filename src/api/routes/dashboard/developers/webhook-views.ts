import type { Session, Tenant } from '../../../../db/db.ts'
import { readHealth, triesByHour } from '../../../../db/webhooks/endpoint-health.ts'
import { type DeliveryEntry, listDeliveries } from '../../../../db/webhooks/event-log.ts'
import type { WebhookEndpoint } from '../../../../db/webhooks/webhook-endpoints.ts'
import { hasAbility } from '../../../../domain/account/roles.ts'
import { isOverloaded, nextDelaySeconds, type SendError } from '../../../../domain/webhook.ts'
import { parseRetryAfter } from '../../../../runtime/retry-after.ts'
import type { DeliveryShown } from '../../../../web/dashboard/developers/webhooks/delivery-words.tsx'
import {
  DELIVERY_VIEWS,
  type DeliveryView,
  renderWebhook,
} from '../../../../web/dashboard/developers/webhooks/webhook.tsx'
import type { EndpointShown, Health } from '../../../../web/dashboard/developers/webhooks/webhook-words.tsx'
import { isLanguage } from '../../../../web/docs/code/languages.ts'
import { SiteProblem } from '../../site-problem.ts'
import type { DeliveryOperationDeps } from '../../v1/webhooks/deliveries.ts'
import { type EndpointOperationDeps, findOwnEndpoint } from '../../v1/webhooks/endpoints.ts'
import type { PageCall } from '../page.ts'
import { readCursors } from '../pager.ts'

export type WebhookPageDeps = EndpointOperationDeps & DeliveryOperationDeps

const DAY_MS = 86_400_000
/** Milliseconds in which failed deliveries can be sent again. */
export const REPLAYABLE_MS = 30 * DAY_MS
const PER_PAGE = 50
const VIEW_STATUS: Readonly<Record<DeliveryView, string | undefined>> = {
  all: undefined,
  waiting: 'pending',
  failed: 'exhausted',
}

export const iso = ({ clock }: Pick<WebhookPageDeps, 'clock'>, before = 0): string =>
  new Date(clock() - before).toISOString()

export async function readEndpointHealth(
  deps: WebhookPageDeps,
  { db, tenant }: { db: Session; tenant: Tenant },
  endpointId: string,
): Promise<Health> {
  const since = iso(deps, DAY_MS)
  const found = await readHealth(db, tenant, { endpointId, since, replayable: iso(deps, REPLAYABLE_MS) })
  const hours = await triesByHour(db, endpointId, since)
  const { tried, delivered, waiting, failed } = found
  return {
    tried,
    delivered,
    waiting,
    failed,
    hours,
    medianMs: found.median_ms,
    slowestMs: found.slowest_ms,
    oldestWaiting: found.oldest_waiting,
  }
}

export async function showEndpoint(deps: WebhookPageDeps, call: PageCall, problem: string | null): Promise<string> {
  const { db, tenant, params, query, frame, role } = call
  const endpoint = await findOwnEndpoint(db, tenant, params['id'] ?? '')
  const show = (Object.keys(DELIVERY_VIEWS) as DeliveryView[]).find((key) => key === query['show']) ?? 'all'
  const { after } = readCursors(query, 'event')
  const page = { limit: PER_PAGE, after, before: null }
  const filters = { status: VIEW_STATUS[show] }
  const { found, health } = await call.inTurn(async (lists) => ({
    found: await listDeliveries(lists, tenant, { endpointId: endpoint.id, filters, page }),
    health: await readEndpointHealth(deps, { db: lists, tenant }, endpoint.id),
  }))
  if (found === null) throw new SiteProblem('not_found')
  const last = found.rows.at(-1)
  const older =
    found.hasMore && last !== undefined
      ? `/dashboard/webhooks/${endpoint.id}?show=${show}&after=${last.event_id}`
      : null
  return renderWebhook({
    frame,
    endpoint: shownEndpoint(endpoint),
    health,
    deliveries: found.rows.map(shownDelivery),
    show,
    older,
    mayChange: hasAbility(role, 'develop'),
    language: isLanguage(query['lang']) ? query['lang'] : 'typescript',
    problem,
    now: iso(deps),
    publicUrl: deps.publicUrl,
  })
}

export function shownEndpoint(endpoint: WebhookEndpoint): EndpointShown {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    format: endpoint.format,
    events: endpoint.enabled_events,
    disabledAt: endpoint.disabled_at?.toISOString() ?? null,
    disabledReason: endpoint.disabled_reason,
    failingSince: endpoint.failing_since?.toISOString() ?? null,
    previousSecretUntil: endpoint.secrets[1]?.expires_at ?? null,
  }
}

/** The middle of the schedule's range. Null if no try is due. */
function estimateNextTry({ status, schedule_step: step, last_attempt_at: last, log }: DeliveryEntry): string | null {
  if (status !== 'pending' || last === null) return null
  const { response_status = null, response_headers, error = null } = log.at(-1) ?? {}
  const at = Date.parse(last)
  const delay = nextDelaySeconds({
    step,
    overloaded: isOverloaded({ status: response_status, error: error as SendError | null }),
    retryAfterSeconds: parseRetryAfter(response_headers?.['retry-after'], at),
    random: 0.5,
  })
  return delay === null ? null : new Date(at + delay * 1000).toISOString()
}

export function shownDelivery(entry: DeliveryEntry): DeliveryShown {
  return {
    event: entry.event_id,
    type: entry.type,
    status: entry.status,
    attempts: entry.attempts,
    createdAt: entry.created_at,
    payment: entry.payment_id === null ? null : { id: entry.payment_id, reference: entry.reference },
    nextTry: estimateNextTry(entry),
    log: entry.log.map(({ number, at, duration_ms, response_status, response_headers, response_body, error }) => ({
      number,
      at,
      error,
      durationMs: duration_ms,
      status: response_status,
      headers: response_headers,
      responseBody: response_body,
    })),
  }
}
