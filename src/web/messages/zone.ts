/** An IANA time zone, or UTC. */
export type Zone = string

/** Not yet in TypeScript's library: the zones of a region (ECMA-402, Intl Locale Info). Node 20 has one name, 22 both. */
type WithZones = { readonly timeZones?: readonly string[]; readonly getTimeZones?: () => readonly string[] }

/** Two days of a year, so that countries whose summer time differs do not count as one. */
const DAYS = [new Date(Date.UTC(2026, 0, 15)), new Date(Date.UTC(2026, 6, 15))]

const known = new Map<string, Zone>()

/** The time zone of a country in which all clocks show the same; UTC for the others and for an unknown country. */
export function getZone(country: string | null): Zone {
  if (country === null) return 'UTC'
  const found = known.get(country) ?? onlyZone(country)
  known.set(country, found)
  return found
}

function onlyZone(country: string): Zone {
  const locale = new Intl.Locale(`und-${country}`) as WithZones & Intl.Locale
  const zones = locale.getTimeZones?.() ?? locale.timeZones ?? []
  const [first] = zones
  if (first === undefined) return 'UTC'
  return zones.every((zone) => DAYS.every((day) => clock(zone, day) === clock(first, day))) ? first : 'UTC'
}

function clock(timeZone: Zone, day: Date): string {
  return new Intl.DateTimeFormat('en', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(day)
}
