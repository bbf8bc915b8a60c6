import { hasCharacters } from '../text.ts'

/** More origins than a shop has. Each adds a few bytes to a header of the page. */
export const MOST_ORIGINS = 10

/** Only letters, digits, hyphens and dots: a star would list every site, and a semicolon would end the list. */
const ORIGIN = /^(https?):\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?$/
const LOOPBACK = ['localhost', '127.0.0.1']

/**
 * Returns the origin of a page (RFC 6454) as a browser writes it, from what a person types: with or without a path, in
 * any case. Null: it is not an origin, or it is `http`, whose pages anybody on the network could write. Only test mode
 * accepts `http`, and only for the person's own device.
 */
export function readOrigin(text: string, { livemode }: { readonly livemode: boolean }): string | null {
  const written = text.trim()
  const isWhole = /^https?:\/\/[^\s@]+$/i.test(written) && !hasCharacters(written, 'turn', 'invisible')
  if (!isWhole || !URL.canParse(written)) return null
  const { origin } = new URL(written)
  const [, scheme, host = ''] = ORIGIN.exec(origin) ?? []
  if (scheme === 'https') return host.length <= 253 ? origin : null
  return scheme === 'http' && !livemode && LOOPBACK.includes(host) ? origin : null
}
