import { newest } from '../newest.ts'
import type { Zone } from './zone.ts'

const HOURS = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

const TIME_STYLES = {
  /** 14:03 */
  time: HOURS,
  /** 14:03:12 */
  seconds: { ...HOURS, second: '2-digit' },
  /** 22 Nov, 14:09 */
  day: { ...HOURS, day: 'numeric', month: 'short' },
  /** 22 November 2026 at 14:09 */
  long: { ...HOURS, day: 'numeric', month: 'long', year: 'numeric' },
  /** 22 Nov 2026 */
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  /** Sun, 22 Nov */
  weekday: { weekday: 'short', day: 'numeric', month: 'short' },
  /** Nov 2026 */
  month: { month: 'short', year: 'numeric' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>

export type TimeStyle = keyof typeof TIME_STYLES

/** True for styles with a time of day, which depends on the zone. */
export const hasHours = (style: TimeStyle): boolean => 'hour' in TIME_STYLES[style]

/** Creating a formatter takes fifty times as long as using it. */
const momentFormats = newest<Intl.DateTimeFormat>(200)

export function formatMoment(
  iso: string,
  style: TimeStyle,
  { formats, zone }: { formats: string; zone: Zone },
): string {
  const made = () => new Intl.DateTimeFormat(formats, { ...TIME_STYLES[style], timeZone: zone })
  return momentFormats(`${formats} ${style} ${zone}`, made).format(new Date(iso))
}
