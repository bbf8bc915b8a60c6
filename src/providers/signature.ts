import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** The most seconds between a callback's timestamp and this clock, in the past or the future. */
const TIMESTAMP_WINDOW_SECONDS = 300

/** The most signatures of a header that are tried; a rotation needs two. */
const MAX_SIGNATURES = 8

export function hmacSha256(secret: string, message: string | Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', secret).update(message).digest(encoding)
}

export function sha256Hex(message: string): string {
  return createHash('sha256').update(message).digest('hex')
}

/** Compares in constant time. The length is checked first, because `timingSafeEqual` throws on unequal lengths. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a, 'utf8')
  const right = Buffer.from(b, 'utf8')
  return left.length === right.length && timingSafeEqual(left, right)
}

/** A partner that rotates its key sends two. */
export function anyIsSame(signatures: readonly string[], expected: string): boolean {
  return signatures.slice(0, MAX_SIGNATURES).some((signature) => sameText(signature, expected))
}

/** Reads Unix seconds as plain digits; `parseInt` would also accept "1795209600abc". Null for anything else. */
export function parseTimestamp(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,10}$/.test(text) ? Number(text) : null
}

export function isInWindow(timestamp: number, now: number): boolean {
  return Math.abs(now - timestamp) <= TIMESTAMP_WINDOW_SECONDS
}
