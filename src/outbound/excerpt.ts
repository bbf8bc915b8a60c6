import type { IncomingHttpHeaders } from 'node:http'
import { withoutCharacters } from '../domain/text.ts'

/** The part of a receiver's response that the delivery log stores: short, printable, without secrets. */

/** Bytes of the body to read for the excerpt. The margin lets a secret at the cut be recognized. */
export const EXCERPT_BYTES = 2048
export const EXCERPT_MARGIN_BYTES = 512

const MAX_HEADERS = 20
const LONGEST_HEADER = 256

/** Secrets that a receiver may return, the platform's or its own: they must not get into a log that people read. */
const SECRETS = [
  /whsec_[A-Za-z0-9+/=_-]+/g,
  /\bv1a?,[A-Za-z0-9+/=]{16,}/g,
  /\b[a-z]+_(?:live|test)_[A-Za-z0-9_]+/g,
  /\b(?:bearer|basic)\s+[A-Za-z0-9+/=._~-]+/gi,
  /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g,
]

const PRIVATE_HEADERS: readonly string[] = ['set-cookie', 'www-authenticate', 'authorization', 'cookie']

export function bodyExcerpt(bytes: Buffer, contentEncoding: string | undefined): string {
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return '[compressed: not shown]'
  // In stream mode the decoder omits an incomplete character at the cut.
  const text = new TextDecoder().decode(bytes, { stream: true })
  // Postgres refuses half of a character: the try would not be recorded, and would be repeated forever.
  return mask(printable(text)).slice(0, EXCERPT_BYTES).toWellFormed()
}

export function loggedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => !PRIVATE_HEADERS.includes(name))
  return Object.fromEntries(
    shown
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name.slice(0, LONGEST_HEADER), mask(printable(String(value))).slice(0, LONGEST_HEADER)]),
  )
}

const printable = (text: string): string => withoutCharacters(text, 'control', 'turn', 'invisible')

function mask(text: string): string {
  return SECRETS.reduce((masked, pattern) => masked.replace(pattern, '[masked]'), text)
}
