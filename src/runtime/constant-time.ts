import { timingSafeEqual } from 'node:crypto'

/** Compares secrets in constant time. The length is checked first, because `timingSafeEqual` throws on unequal lengths. */
export function isSameSecret(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
