import { createHash, createHmac, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { z } from 'zod'

/**
 * `pinrail_{test|live}_` + 12 characters of key id + 32 of secret (190 bits) + 6 of CRC-32, all base 62. The checksum
 * rejects junk without a query and saves scanners for leaked secrets from false alarms.
 */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const FORMAT = /^pinrail_(test|live)_([0-9A-Za-z]{12})([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

export const API_SCOPES = [
  'payments:read',
  'payments:write',
  'webhooks:read',
  'webhooks:write',
  'events:read',
  'settings:read',
  'settings:write',
  'notifications:read',
  'notifications:write',
  'members:read',
  'members:write',
  'audit:read',
  'keys:read',
  'keys:write',
  'agents:use',
] as const
export type ApiScope = (typeof API_SCOPES)[number]

/** An invalid entry would fail every request with the key, because it has no place in a block list. */
export const NETWORK = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'must be an IP address or a network such as 192.0.2.0/24',
)

export type ParsedApiKey = { readonly id: string; readonly livemode: boolean; readonly text: string }

/** `text` is shown once and never stored; `digest` is stored. */
export function createApiKey(
  livemode: boolean,
  pepper: string,
): { id: string; text: string; digest: Buffer; last4: string; pepperId: string } {
  const id = randomText(12)
  const body = `pinrail_${livemode ? 'live' : 'test'}_${id}${randomText(32)}`
  const text = `${body}${checksum(body)}`
  return { id, text, digest: digestApiKey(text, pepper), last4: text.slice(-4), pepperId: derivePepperId(pepper) }
}

/** Makes no query. Null if it cannot be a key. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const match = FORMAT.exec(text)
  if (match === null) return null
  if (checksum(text.slice(0, -6)) !== match[4]) return null
  return { id: match[2] ?? '', livemode: match[1] === 'live', text }
}

/** HMAC-SHA-256 with the pepper: a leaked table alone is not enough to check guesses. Costs microseconds. */
export function digestApiKey(text: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(text).digest()
}

/** Names a pepper without revealing it: the beginning of a digest of a long random text. */
export function derivePepperId(pepper: string): string {
  return createHash('sha256').update('pinrail.pepper').update(pepper).digest('hex').slice(0, 8)
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let position = 0; position < 6; position++) {
    text = `${ALPHABET[rest % 62]}${text}`
    rest = Math.floor(rest / 62)
  }
  return text
}
