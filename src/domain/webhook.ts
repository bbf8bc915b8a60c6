/** Events for merchants, and the rules of their delivery: which responses count, and when the next try is due. */

export const WEBHOOK_EVENT_TYPES = [
  'payment.succeeded',
  'payment.created',
  'payment.processing',
  'payment.failed',
  'payment.expired',
  'payment.canceled',
  'payment.under_review',
  'payment.refunded',
  'payment.chargeback',
  'payment.chargeback_won',
  'dispute.created',
  'dispute.updated',
  'dispute.closed',
  'refund.created',
  'refund.funded',
  'refund.succeeded',
  'refund.failed',
  'refund.canceled',
  'refund.expired',
  'reserve.released',
  'payment_link.completed',
  'webhook_endpoint.disabled',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

/** The subject of an event: the word before the point in its type. */
type EventSubject = WebhookEventType extends `${infer Subject}.${string}` ? Subject : never

export const getEventSubject = (type: WebhookEventType): EventSubject => type.split('.')[0] as EventSubject

export function isWebhookEventType(type: string): type is WebhookEventType {
  return (WEBHOOK_EVENT_TYPES as readonly string[]).includes(type)
}

/** The events of an endpoint that names none: the one event that marks an order paid. */
export const DEFAULT_EVENT_TYPES = ['payment.succeeded'] as const satisfies readonly WebhookEventType[]

/** An endpoint that lists this receives every type, including future ones. */
export const ALL_EVENT_TYPES = '*'

/** How events are written and signed: Standard Webhooks 1.0, or as BTCPay Server does for plugins of shops. */
export const WEBHOOK_FORMATS = ['standard', 'btcpay'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
/** An API of shops has the name of the format of its webhooks. */
export type ShopApi = Exclude<WebhookFormat, 'standard'>

type Endpoint = {
  readonly id: string
  readonly livemode: boolean
  readonly url: string
  readonly description: string | null
  readonly format: WebhookFormat
  readonly enabled_events: string[]
  readonly secrets: readonly { readonly expires_at: string | null }[]
  readonly disabled_at: Date | null
  readonly disabled_reason: 'merchant' | 'gone' | 'failing' | null
  readonly failing_since: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export function renderEndpoint(endpoint: Endpoint) {
  const { id, livemode, url, description, format, enabled_events, disabled_at, disabled_reason } = endpoint
  return {
    id,
    object: 'webhook_endpoint' as const,
    livemode,
    url,
    description,
    format,
    enabled_events,
    status: disabled_at === null ? ('enabled' as const) : ('disabled' as const),
    disabled_at: disabled_at?.toISOString() ?? null,
    disabled_reason,
    failing_since: endpoint.failing_since?.toISOString() ?? null,
    previous_secret_expires_at: endpoint.secrets[1]?.expires_at ?? null,
    created_at: endpoint.created_at.toISOString(),
    updated_at: endpoint.updated_at.toISOString(),
  }
}

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * Seconds before each try: 12 tries over 75 h 42 m 35 s. The first quarter of an hour is dense because a deploy of the
 * receiver takes minutes; the rest outlasts a long weekend. (Standard Webhooks, with three more tries.)
 */
export const DELIVERY_DELAYS_SECONDS = [
  0,
  5,
  30,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

/** Varies each delay by a factor between 0.8 and 1.2, so that a receiver that was down is not hit all at once. */
const JITTER = 0.2

/** The shortest pause after a timeout or a response that means "too busy" (seconds). */
const OVERLOAD_PAUSE_SECONDS = MINUTE

/** `Retry-After` delays a try by at most a day (seconds). */
const LONGEST_RETRY_AFTER_SECONDS = 24 * HOUR

const OVERLOADED_STATUSES: readonly number[] = [429, 502, 503, 504]

export type SendError =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'protocol'
  | 'redirect'
  | 'refused_url'
  | 'refused_address'
  | 'unusable_secret'

export type DeliveryAnswer = { readonly status: number | null; readonly error: SendError | null }

/** The receiver accepted it, did not, or reported that it was removed for good (410: the endpoint is disabled). */
export type DeliveryVerdict = 'delivered' | 'failed' | 'gone'

/** Only 2xx counts. A 401 or 404 is tried again too: receivers respond with these while they are being deployed. */
export function classifyAnswer({ status, error }: DeliveryAnswer): DeliveryVerdict {
  if (status === null || error !== null) return 'failed'
  if (status === 410) return 'gone'
  return status >= 200 && status < 300 ? 'delivered' : 'failed'
}

export function isOverloaded({ status, error }: DeliveryAnswer): boolean {
  return error === 'timeout' || (status !== null && OVERLOADED_STATUSES.includes(status))
}

export function describeAnswer({ status, error }: DeliveryAnswer): string {
  if (error === null) return `HTTP ${status}`
  return status === null ? `no response (${error})` : `HTTP ${status} (${error})`
}

export type LastAnswer = {
  readonly text: string
  readonly overloaded: boolean
  readonly retryAfterSeconds: number | null
}

export type DelayQuestion = {
  /** Tries of the schedule that are used up; one made by hand uses up none. */
  readonly step: number
  readonly overloaded: boolean
  /** The delay that the last response requested; null: none, or an unreadable one. */
  readonly retryAfterSeconds: number | null
  /** In [0, 1). */
  readonly random: number
}

/** Null: the schedule is used up. `Retry-After` only delays the try, up to twice the delay and one day. */
export function nextDelaySeconds({ step, overloaded, retryAfterSeconds, random }: DelayQuestion): number | null {
  const scheduled = DELIVERY_DELAYS_SECONDS[step]
  if (scheduled === undefined) return null
  const jittered = scheduled * (1 - JITTER + 2 * JITTER * random)
  const delay = overloaded ? Math.max(jittered, OVERLOAD_PAUSE_SECONDS) : jittered
  if (retryAfterSeconds === null || !Number.isFinite(retryAfterSeconds)) return delay
  return Math.max(delay, Math.min(retryAfterSeconds, 2 * delay, LONGEST_RETRY_AFTER_SECONDS))
}

/** The latest that the try after `step` can be due (seconds): a later delivery has lost its workflow. */
export function longestDelaySeconds(step: number): number {
  const latest = { step, overloaded: true, retryAfterSeconds: LONGEST_RETRY_AFTER_SECONDS, random: 1 }
  return nextDelaySeconds(latest) ?? 0
}

export function isScheduleUsedUp(step: number): boolean {
  return step >= DELIVERY_DELAYS_SECONDS.length
}

export function deliverySummary(eventId: string, endpointId: string): string {
  return `Webhook ${eventId} to ${endpointId}`
}

/** An endpoint is disabled if it had no success for this long (seconds) … */
export const DISABLE_AFTER_SECONDS = 5 * 24 * HOUR

/** … and the delivery that fails now has been failing for this long: one failure after a quiet week is not a reason. */
export const DISABLE_NEEDS_FAILING_SECONDS = 12 * HOUR
