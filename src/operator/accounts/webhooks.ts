import type { Tenant } from '../../db/db.ts'
import { findEndpointOwner, listFailingEndpoints } from '../../db/operator/accounts.ts'
import { recordAction } from '../../db/operator/actions.ts'
import {
  type DeliveryEntry,
  listDeliveries,
  type RevivedDelivery,
  reviveDelivery,
  reviveFailed,
} from '../../db/webhooks/event-log.ts'
import {
  findEndpoint,
  listEndpoints,
  updateEndpoint,
  type WebhookEndpoint,
} from '../../db/webhooks/webhook-endpoints.ts'
import { plural } from '../../domain/plural.ts'
import { createTemporalClient } from '../../temporal/connect.ts'
import { createDeliveryWorkflows } from '../../temporal/deliveries.ts'
import { DELIVERIES_QUEUE } from '../../workflows/queues.ts'
import {
  type CommandContext,
  Refusal,
  readLimit,
  readSince,
  requireMerchant,
  sayList,
  signedBy,
  UsageError,
} from '../call.ts'

const USUAL_LINES = 20
const MOST_FAILING = 200
/** Milliseconds in which failed deliveries can be sent again. */
const REPLAYABLE_MS = 30 * 86_400_000
/** The workers start the other deliveries. */
const MOST_STARTED = 500

export async function listWebhooks(context: CommandContext): Promise<number> {
  const endpoints = await listEndpoints(context.db, await requireMerchant(context))
  context.give(
    'webhooks',
    endpoints.map(({ secrets: _secrets, ...endpoint }) => endpoint),
  )
  return sayList(context.say, {
    none: 'no webhook endpoint',
    head: ['endpoint', 'health', 'url'],
    rows: endpoints.map((endpoint) => [endpoint.id, describeHealth(endpoint), endpoint.url]),
  })
}

type Health = {
  readonly disabled_at: unknown
  readonly disabled_reason: string | null
  readonly failing_since: unknown
}

function describeHealth({ disabled_at, disabled_reason, failing_since }: Health): string {
  if (disabled_at !== null) return `disabled (${disabled_reason})`
  return failing_since === null ? 'ok' : 'FAIL'
}

/** Returns 1 if an endpoint accepts nothing. */
export async function listFailing(context: CommandContext): Promise<number> {
  const endpoints = await listFailingEndpoints(context.db, MOST_FAILING)
  context.give('webhooks', endpoints)
  sayList(context.say, {
    none: 'every endpoint accepts its events',
    head: ['endpoint', 'merchant', 'health', 'since', 'waiting or failed', 'url'],
    rows: endpoints.map((endpoint) => [
      endpoint.id,
      endpoint.merchant_id,
      describeHealth(endpoint),
      endpoint.failing_since ?? endpoint.disabled_at,
      endpoint.waiting,
      endpoint.url,
    ]),
  })
  return endpoints.length === 0 ? 0 : 1
}

export async function showDeliveries(context: CommandContext): Promise<number> {
  const { db, options, say, give } = context
  const { tenant, endpoint } = await findOwned(context)
  const page = { limit: readLimit(context, USUAL_LINES), after: null, before: null }
  const filters = { status: options.status }
  const rows = (await listDeliveries(db, tenant, { endpointId: endpoint.id, filters, page }))?.rows ?? []
  give('deliveries', rows)
  sayList(say, {
    none: 'no delivery',
    head: ['event', 'type', 'status', 'attempts', 'last attempt', 'response'],
    rows: rows.map((row) => [row.event_id, row.type, row.status, row.attempts, row.last_attempt_at, lastAnswer(row)]),
  })
  return 0
}

function lastAnswer({ log }: DeliveryEntry): string {
  const last = log.at(-1)
  if (last === undefined) return 'not sent yet'
  return last.response_status === null ? (last.error ?? 'no response') : `HTTP ${last.response_status}`
}

/** Restarts the schedule of one event, or of all that failed since a time. */
export async function redeliver(context: CommandContext): Promise<number> {
  const { db, subjects, options, say, give } = context
  const signed = signedBy(context)
  const event = subjects[1]
  if ((event === undefined) === (options.since === undefined))
    throw new UsageError('name an event, or give --since <time> to resend all that have failed since then')
  const { tenant, endpoint } = await findOwned(context)
  if (endpoint.disabled_at !== null)
    throw new Refusal(`${endpoint.id} is disabled: \`pinrail webhooks enable ${endpoint.id}\` first`)
  const again = await db.transaction(async (tx) => {
    const one = { endpointId: endpoint.id, eventId: event ?? '' }
    const revived =
      event === undefined
        ? await reviveFailed(tx, tenant, { endpointId: endpoint.id, since: limitSince(options.since ?? '') })
        : [await reviveDelivery(tx, tenant, one)].filter((delivery) => delivery !== null)
    const data = {
      endpoint: endpoint.id,
      event: event ?? null,
      since: options.since ?? null,
      deliveries: revived.length,
    }
    if (revived.length > 0) await recordAction(tx, tenant, { ...signed, kind: 'webhook.redelivered', data })
    return revived
  })
  give(
    'deliveries',
    again.map(({ event_id }) => event_id),
  )
  if (again.length === 0) {
    say('nothing to deliver again')
    return 1
  }
  const started = await deliverNow(context, endpoint, again)
  say(`${plural(started, 'delivery is', 'deliveries are')} started`)
  if (started < again.length) say(`the workers start the other ${again.length - started} within 15 minutes`)
  return 0
}

async function deliverNow(
  { settings }: CommandContext,
  { id: endpointId, merchant_id: merchantId }: WebhookEndpoint,
  revived: readonly RevivedDelivery[],
) {
  const temporal = createTemporalClient(settings)
  try {
    const workflows = createDeliveryWorkflows({ client: temporal.client, taskQueue: DELIVERIES_QUEUE })
    let started = 0
    for (const { event_id: eventId, attempts: attemptsDone } of revived.slice(0, MOST_STARTED)) {
      if (!(await workflows.deliverNow({ eventId, endpointId, merchantId, attemptsDone }))) break
      started += 1
    }
    return started
  } finally {
    await temporal.close()
  }
}

/** Limits the time to the deliveries that can still be sent again. */
const limitSince = (text: string): string =>
  new Date(Math.max(readSince(text), Date.now() - REPLAYABLE_MS)).toISOString()

export const enableWebhook = (context: CommandContext): Promise<number> => switchWebhook(context, true)
export const disableWebhook = (context: CommandContext): Promise<number> => switchWebhook(context, false)

async function switchWebhook(context: CommandContext, enabled: boolean): Promise<number> {
  const signed = signedBy(context)
  const { tenant, endpoint } = await findOwned(context)
  await context.db.transaction(async (tx) => {
    await updateEndpoint(tx, tenant, { id: endpoint.id, changes: { enabled } })
    const kind = enabled ? 'webhook.enabled' : 'webhook.disabled'
    await recordAction(tx, tenant, { ...signed, kind, data: { endpoint: endpoint.id } })
  })
  context.give('webhook', { id: endpoint.id, enabled })
  context.say(
    enabled
      ? `${endpoint.id} is enabled; resend failed events with \`pinrail webhooks redeliver\``
      : `${endpoint.id} is disabled: its events are kept, and nothing is sent`,
  )
  return 0
}

async function findOwned({
  db,
  subjects: [id = ''],
}: CommandContext): Promise<{ tenant: Tenant; endpoint: WebhookEndpoint }> {
  const tenant = await findEndpointOwner(db, id)
  const endpoint = tenant && (await findEndpoint(db, tenant, id))
  if (tenant === null || endpoint === null)
    throw new Refusal(`there is no webhook endpoint ${id}: see \`pinrail webhooks list <merchant>\``)
  return { tenant, endpoint }
}
