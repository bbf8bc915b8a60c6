/** An IANA time zone, or UTC. */
export type Zone = string

/** TypeScript's library does not have the zones of a region yet (ECMA-402, Intl Locale Info). Node 20 has one of the names, Node 22 both. */
type WithZones = { readonly timeZones?: readonly string[]; readonly getTimeZones?: () => readonly string[] }

/** A day in winter and one in summer, so that zones with different summer times count as different. */
const DAYS = [new Date(Date.UTC(2026, 0, 15)), new Date(Date.UTC(2026, 6, 15))]

const known = new Map<string, Zone>()

/** Returns the time zone of a country with one time; UTC for any other country and for an unknown one. */
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
