import { formatMoment, type TimeStyle } from '../messages/moment.ts'
import { type Words, wordsIn } from '../messages/words.ts'

/** The words of pages that are in English and show times in UTC. */
const ENGLISH = wordsIn('en')

type TimeProps = { readonly at: string; readonly style?: TimeStyle; readonly words?: Words }

/**
 * A moment in the time zone of the buyer's country, or in UTC with the zone's name. The script of a buyer's page
 * rewrites it in the time zone of the buyer's device.
 */
export function Time({ at, style = 'long', words = ENGLISH }: TimeProps) {
  return (
    <time dateTime={at} data-style={style}>
      {words.moment(at, style)}
    </time>
  )
}

/** Formats a moment in English and UTC, without the name of the zone. */
export function timeText(at: string, style: TimeStyle): string {
  return formatMoment(at, style, { formats: 'en-GB', zone: 'UTC' })
}

/** Shows the time of a moment of the current UTC day, else its day. */
export function Recent({ at, now }: { at: string; now: string }) {
  const isToday = at.slice(0, 10) === now.slice(0, 10)
  return (
    <time dateTime={at} class="soft" title={ENGLISH.moment(at, 'long')}>
      {timeText(at, isToday ? 'time' : 'date')}
    </time>
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Formats a span of milliseconds in its largest unit: `5 min`, `22 h`, `3 days`. */
export function spanText(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute'
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.floor(ms / DAY_MS)} days`
}

/** Shows the time since a moment of the last 24 hours, else its day. */
export function Ago({ at, now }: { at: string; now: string }) {
  const ms = Date.parse(now) - Date.parse(at)
  return (
    <time dateTime={at} title={ENGLISH.moment(at, 'long')}>
      {ms < MINUTE_MS ? 'just now' : ms < DAY_MS ? `${spanText(ms)} ago` : timeText(at, 'date')}
    </time>
  )
}
