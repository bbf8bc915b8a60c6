/** The times of the dashboard, in UTC. The element's `dateTime` has the exact moment. */

const FORMS = {
  time: { hour: '2-digit', minute: '2-digit' },
  seconds: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  weekday: { weekday: 'short', day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  long: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

const formats = Object.fromEntries(
  Object.entries(FORMS).map(([name, form]) => [
    name,
    new Intl.DateTimeFormat('en-GB', { ...form, timeZone: 'UTC', hourCycle: 'h23' }),
  ]),
)

export type MomentForm = keyof typeof FORMS

export function Moment({ at, form = 'long' }: { at: string; form?: MomentForm }) {
  const utc = form === 'day' ? '' : ' UTC'
  return <time dateTime={at}>{`${momentText(at, form)}${utc}`}</time>
}

export function momentText(at: string, form: MomentForm): string {
  return formats[form]?.format(new Date(at)) ?? at
}

/** Shows the time of a moment of the current UTC day, else its day. */
export function Recent({ at, now }: { at: string; now: string }) {
  const isToday = at.slice(0, 10) === now.slice(0, 10)
  return (
    <time dateTime={at} class="soft" title={`${momentText(at, 'long')} UTC`}>
      {momentText(at, isToday ? 'time' : 'day')}
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
    <time dateTime={at} title={`${momentText(at, 'long')} UTC`}>
      {ms < MINUTE_MS ? 'just now' : ms < DAY_MS ? `${spanText(ms)} ago` : momentText(at, 'day')}
    </time>
  )
}
