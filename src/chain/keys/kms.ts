import { setTimeout as delay } from 'node:timers/promises'
import { recover } from 'tiny-secp256k1'
import type { LocalAccount } from 'viem/accounts'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'
import { createLimiter } from '../../runtime/limiter.ts'
import { accountSigningBy } from './account.ts'

/** A key management service that signs with a secp256k1 key and never reveals it. */
export type KeyService = {
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: () => Promise<Uint8Array>
  /** An ECDSA signature of the 32-byte digest, in DER. */
  readonly signDigest: (digest: Uint8Array) => Promise<Uint8Array>
}

/** Concurrent signatures of one service: the number that settlement signs at once. */
const SIGNATURES = { running: 25 }

/** Key services answer within 100 ms; this is three times the answer of a slow one. */
const DEADLINE_MS = 3000

/** Order of the curve. The token accepts only the signature with the lower one of s and n - s. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const toDigits = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const toWord = (value: bigint): string => value.toString(16).padStart(64, '0')

/**
 * Creates an account of a key in a key management service. Signing throws the service's refusal, or an error if it does
 * not answer within `deadlineMs` milliseconds; the caller tries again in the next round.
 */
export async function createServiceAccount(service: KeyService, deadlineMs = DEADLINE_MS): Promise<LocalAccount> {
  const info = Buffer.from(await service.publicKey())
  // The key is the last 65 bytes of the structure: 04 and both coordinates.
  const point = info.subarray(-65)
  if (info.length < 65 || point[0] !== 4)
    throw new Error('the key service has no uncompressed secp256k1 key under this name')
  const hash = keccak256(`0x${point.subarray(1).toString('hex')}`)
  const limiter = createLimiter(SIGNATURES)
  return accountSigningBy({
    address: `0x${hash.slice(-40)}`,
    publicKey: `0x${point.toString('hex')}`,
    async sign(hash) {
      const digest = Buffer.from(hash.slice(2), 'hex')
      const free = await limiter.take()
      const der = await answerWithin(deadlineMs, service.signDigest(digest)).finally(() => free?.())
      const { r, s } = parseDer(der)
      const signature = toWord(r) + toWord(s > ORDER / 2n ? ORDER - s : s)
      return `0x${signature}${recoveryByte(digest, signature, point)}` as Hex
    },
  })
}

async function answerWithin<T>(ms: number, answer: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const late = delay(ms, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`the key service did not answer within ${ms} ms`)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    late.catch(() => undefined)
    stop.abort()
  }
}

/** Returns the recovery byte, 27 or 28: with the right one, the signature recovers the service's public key. */
function recoveryByte(digest: Buffer, signature: string, point: Buffer): '1b' | '1c' {
  for (const [id, byte] of [
    [0, '1b'],
    [1, '1c'],
  ] as const) {
    const found = recover(digest, Buffer.from(signature, 'hex'), id, false)
    if (found !== null && point.equals(found)) return byte
  }
  throw new Error('the key service signed with another key')
}

/** Parses SEQUENCE { INTEGER r, INTEGER s }, both short enough for one length byte. */
function parseDer(der: Uint8Array): { r: bigint; s: bigint } {
  const integer = (at: number): { value: bigint; end: number } => {
    const end = at + 2 + (der[at + 1] ?? 0)
    if (der[at] !== 2 || end > der.length) throw new Error('the key service answered no ECDSA signature')
    return { value: BigInt(`0x${toDigits(der.subarray(at + 2, end))}`), end }
  }
  if (der[0] !== 0x30) throw new Error('the key service answered no ECDSA signature')
  const r = integer(2)
  return { r: r.value, s: integer(r.end).value }
}
