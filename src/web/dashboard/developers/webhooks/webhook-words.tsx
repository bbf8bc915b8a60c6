import { ALL_EVENT_TYPES, type WebhookFormat } from '../../../../domain/webhook.ts'
import { State } from '../../../kit/state.tsx'

/** An endpoint without its secret. Times are ISO 8601. */
export type EndpointShown = {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly format: WebhookFormat
  readonly events: readonly string[]
  readonly disabledAt: string | null
  readonly disabledReason: 'merchant' | 'gone' | 'failing' | null
  readonly failingSince: string | null
  readonly previousSecretUntil: string | null
}

export type Health = {
  readonly tried: number
  readonly delivered: number
  readonly medianMs: number | null
  readonly slowestMs: number | null
  readonly waiting: number
  readonly oldestWaiting: string | null
  /** The number of failed deliveries that can still be sent again. */
  readonly failed: number
  readonly hours: readonly { readonly hour: number; readonly ok: number; readonly bad: number }[]
}

export function bareUrl(url: string): string {
  return url.replace(/^https?:\/\//, '')
}

export function EndpointState({ endpoint: { disabledAt, failingSince } }: { endpoint: EndpointShown }) {
  if (disabledAt !== null)
    return (
      <State tone="problem" icon="circle_minus">
        Disabled
      </State>
    )
  if (failingSince !== null)
    return (
      <State tone="wait" icon="warning">
        Failing
      </State>
    )
  return (
    <State tone="success" icon="circle_check">
      Healthy
    </State>
  )
}

export const OFF_WORDS = {
  merchant: 'Disabled by somebody in your account',
  gone: 'Disabled because it responded with 410: it no longer exists',
  failing: 'Disabled after 5 days without a success',
} as const

export function msText(ms: number | null): string {
  return ms === null ? '–' : `${String(ms).replace(/\B(?=(?:\d{3})+$)/g, ',')} ms`
}

/** A chart of the tries in each hour of the last day. Failed tries are on top in another color. */
export function Spark({ hours, tall = false }: { hours: Health['hours']; tall?: boolean }) {
  const most = Math.max(1, ...hours.map(({ ok, bad }) => ok + bad))
  const [ok, bad] = hours.reduce(([a, b], hour) => [a + hour.ok, b + hour.bad], [0, 0])
  return (
    <svg
      class={tall ? 'spark tall' : 'spark'}
      viewBox="0 0 96 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={`Attempts in the last 24 hours: ${ok} delivered, ${bad} failed`}
    >
      {hours.map((hour) => {
        const [high, low] = [(hour.bad / most) * 19, (hour.ok / most) * 19]
        return (
          <g key={hour.hour}>
            <rect x={hour.hour * 4} y={20 - low} width={3} height={low} />
            <rect class="bad" x={hour.hour * 4} y={20 - low - high} width={3} height={high} />
          </g>
        )
      })}
    </svg>
  )
}

/** Describes an endpoint by its name and its event types: `each` type, or their `count`. */
export function describeEndpoint({ description, format, events }: EndpointShown, types: 'each' | 'count'): string {
  const many = types === 'each' ? events.join(', ') : `${events.length} event types`
  const sent = events.includes(ALL_EVENT_TYPES) ? 'every type' : events.length === 1 ? events[0] : many
  return [description, format === 'btcpay' ? 'in the format of BTCPay' : null, sent].filter(Boolean).join(' · ')
}
