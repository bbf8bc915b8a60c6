export type QuietHours = {
  /** Minutes after midnight in the time zone. A `to` before `from` is on the next day. */
  readonly from: number
  readonly to: number
  /** IANA name, such as Europe/Oslo. */
  readonly zone: string
}

const DAY_MINUTES = 1440
const MINUTE_MS = 60_000
/** Clocks are put forward or back by at most this much, in steps of a quarter of an hour. */
const LONGEST_SHIFT_MINUTES = 120
const STEP_MINUTES = 15

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** Reads `HH:MM` as minutes after midnight; null for anything else. */
export function parseClock(text: string): number | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text)
  return match === null ? null : Number(match[1]) * 60 + Number(match[2])
}

export function formatClock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Returns when the present quiet hours end (Unix milliseconds); null outside of quiet hours. */
export function quietUntil(quiet: QuietHours | null, now: number): number | null {
  if (quiet === null || !isQuiet(quiet, minuteOfDay(quiet.zone, now))) return null
  const start = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const left = (quiet.to - minuteOfDay(quiet.zone, now) + DAY_MINUTES) % DAY_MINUTES
  const end = start + left * MINUTE_MS
  // The clock can be put forward or back until then: the search tries the minutes around the computed end.
  for (let shift = -LONGEST_SHIFT_MINUTES; shift <= LONGEST_SHIFT_MINUTES; shift += STEP_MINUTES) {
    const at = end + shift * MINUTE_MS
    if (at > now && !isQuiet(quiet, minuteOfDay(quiet.zone, at))) return at
  }
  return end
}

function isQuiet({ from, to }: QuietHours, minute: number): boolean {
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

function minuteOfDay(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at)
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value)
  return part('hour') * 60 + part('minute')
}
