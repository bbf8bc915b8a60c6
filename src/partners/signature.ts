import { createHash, createHmac } from 'node:crypto'
import { isSameSecret } from '../runtime/constant-time.ts'

/** Maximum difference between a callback's timestamp and this clock, in either direction. */
const TIMESTAMP_WINDOW_SECONDS = 300

/** Maximum number of signatures that are checked in one header; a rotation needs two. */
const MAX_SIGNATURES = 8

export function hmacSha256(secret: string, message: string | Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', secret).update(message).digest(encoding)
}

export function sha256Hex(message: string | Uint8Array): string {
  return createHash('sha256').update(message).digest('hex')
}

/** True if one of the signatures is that of one of the secrets. A partner that rotates its secret sends two. */
export function isSigned(
  signatures: readonly string[],
  secrets: readonly string[],
  sign: (secret: string) => string,
): boolean {
  return secrets
    .map(sign)
    .some((expected) => signatures.slice(0, MAX_SIGNATURES).some((signature) => isSameSecret(signature, expected)))
}

/** Reads Unix seconds as plain digits; `parseInt` would also accept "1795209600abc". Null for anything else. */
export function parseTimestamp(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,10}$/.test(text) ? Number(text) : null
}

/** Reads Unix milliseconds as plain digits. Null for anything else. */
export function parseMilliseconds(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,13}$/.test(text) ? Number(text) : null
}

export function isInWindow(timestamp: number, now: number): boolean {
  return Math.abs(now - timestamp) <= TIMESTAMP_WINDOW_SECONDS
}
