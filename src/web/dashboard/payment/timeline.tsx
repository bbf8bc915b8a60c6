import { Card } from '../../kit/card.tsx'
import { Fold } from '../../kit/fold.tsx'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { timeText } from '../../kit/time.tsx'
import type { Tone } from '../../kit/tone.ts'
import { type About, readFacts, type TimelineItem } from './facts.tsx'

type Source = { readonly name: string; readonly icon: IconName; readonly group: 'money' | 'buyer' | 'webhooks' }

/** Returns the source of an entry, by the beginning of its kind and by its actor. */
function findSource({ kind, actor }: TimelineItem): Source {
  if (kind.startsWith('webhook') || kind.startsWith('event'))
    return { name: 'Webhook', icon: 'webhook', group: 'webhooks' }
  if (actor === 'operator') return { name: 'Operator', icon: 'user', group: 'money' }
  if (kind === 'payment.created') return { name: 'API', icon: 'code', group: 'buyer' }
  if (kind === 'payment.converted' || kind.includes('rate') || kind.includes('fill'))
    return { name: 'Conversion', icon: 'convert', group: 'money' }
  if (kind === 'payment.succeeded' || kind === 'payment.settling' || kind.startsWith('deposit'))
    return { name: 'Chain', icon: 'cube', group: 'money' }
  if (actor === 'buyer' || kind.startsWith('checkout')) return { name: 'Buyer', icon: 'user', group: 'buyer' }
  if (actor === 'merchant') return { name: 'You', icon: 'user', group: 'money' }
  if (actor === 'partner') return { name: 'Partner', icon: 'bank_transfer', group: 'money' }
  return { name: 'Pinrail', icon: 'clock', group: 'money' }
}

/** Returns a tone for outcomes only. */
function findTone({ kind, to_status: to, data }: TimelineItem): Tone | null {
  if (to === 'succeeded') return 'success'
  if (to === 'under_review') return 'wait'
  if (to === 'failed') return 'problem'
  if (kind === 'refund.succeeded') return 'success'
  if (kind === 'refund.failed') return 'problem'
  if (kind !== 'webhook.attempt') return null
  const status = Number(data['response_status'] ?? 0)
  return status >= 200 && status <= 299 ? 'success' : 'wait'
}

export const GROUPS = { all: 'All', money: 'Money', buyer: 'Buyer', webhooks: 'Webhooks' } as const
export type Group = keyof typeof GROUPS

/** `items` are in ascending order. */
type TimelineProps = { readonly items: readonly TimelineItem[]; readonly show: Group; readonly about: About }

export function Timeline({ items, show, about }: TimelineProps) {
  const day = items[0] === undefined ? '' : `${timeText(items[0].at, 'date')}, UTC`
  const shown = items
    .map((item, index) => ({ item, before: items[index - 1], source: findSource(item) }))
    .filter(({ source }) => show === 'all' || source.group === show)
  return (
    <Card
      id="tl"
      title="Timeline"
      lead={day}
      actions={
        <nav class="seg" aria-label="Show">
          {Object.entries(GROUPS).map(([key, name]) => (
            <a key={key} href={key === 'all' ? '?' : `?show=${key}`} aria-current={key === show ? 'true' : undefined}>
              {name}
            </a>
          ))}
        </nav>
      }
    >
      {shown.length === 0 && <p class="soft">Nothing of this kind has happened yet.</p>}
      <ol class="timeline">
        {shown.map(({ item, before, source }) => (
          <li key={item} class={findTone(item) ?? undefined}>
            <span class="pin">
              <Icon name={source.icon} />
            </span>
            <div>
              <p>
                <b>{item.message}</b>
              </p>
              <FactLine item={item} about={about} />
            </div>
            <p class="soft">
              <span class="wide-only">{source.name} · </span>
              <time dateTime={item.at}>{timeText(item.at, 'seconds')}</time>
              {before !== undefined && <small>{spanSince(before.at, item.at)}</small>}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** The facts of an entry. A fold has the fields that no fact shows. */
function FactLine({ item, about }: { item: TimelineItem; about: About }) {
  const { facts, rest } = readFacts(item, about)
  return (
    <>
      {facts.length > 0 && (
        <p class="soft">
          {facts.map((fact, index) => (
            <>
              {index > 0 && ' · '}
              {fact}
            </>
          ))}
        </p>
      )}
      <Details data={rest} message={item.message} />
    </>
  )
}

function Details({ data, message }: Pick<TimelineItem, 'data' | 'message'>) {
  if (Object.keys(data).length === 0) return null
  return (
    <Fold title="Details">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0} aria-label={`Details of: ${message}`}>
        <code>{JSON.stringify(data, null, 2)}</code>
      </pre>
    </Fold>
  )
}

/** Formats the time between two moments: `+7 s`, `+4 min`, `+3 h`, `+2 d`. */
function spanSince(before: string, at: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(before)) / 1000))
  if (seconds < 120) return `+${seconds} s`
  if (seconds < 7200) return `+${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `+${Math.round(seconds / 3600)} h` : `+${Math.round(seconds / 86_400)} d`
}
