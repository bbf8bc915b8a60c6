import { hasCharacters } from '../text.ts'

/** More than a shop has addresses. Each is a few bytes of a header of the page. */
export const MOST_ORIGINS = 10

/** Letters, digits, hyphens and dots alone: a star would list everybody, and a semicolon would end the list. */
const ORIGIN = /^(https?):\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?$/
const LOOPBACK = ['localhost', '127.0.0.1']

/**
 * The origin of a page (RFC 6454) as a browser writes it, from what a person writes: with or without a path, in any case.
 * Null where it is none, or where anybody on the network could write the page: only test mode takes `http`, of one's own
 * device.
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
