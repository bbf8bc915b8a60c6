import { createDecipheriv, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'

const digits = z.string().regex(/^(?:[0-9a-f]{2})+$/i)

/** Web3 Secret Storage, version 3, as geth, Foundry and wallets write it. */
const keystore = z.object({
  version: z.literal(3),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    ciphertext: digits,
    cipherparams: z.object({ iv: digits }),
    mac: digits,
    kdf: z.enum(['scrypt', 'pbkdf2']),
    kdfparams: z.object({
      dklen: z.number().int().min(32).max(64),
      salt: digits,
      // scrypt
      n: z
        .number()
        .int()
        .min(2)
        .max(1 << 20)
        .optional(),
      r: z.number().int().min(1).max(16).optional(),
      p: z.number().int().min(1).max(16).optional(),
      // pbkdf2
      c: z.number().int().min(1).max(10_000_000).optional(),
      prf: z.literal('hmac-sha256').optional(),
    }),
  }),
})
type Crypto = z.infer<typeof keystore>['crypto']

const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const pbkdf2Async = promisify(pbkdf2)

function deriveKey({ kdf, kdfparams }: Crypto, password: string): Promise<Buffer> {
  const { dklen, n, r, p, c } = kdfparams
  const salt = Buffer.from(kdfparams.salt, 'hex')
  if (kdf === 'pbkdf2') {
    if (c === undefined) throw new Error('the keystore does not say how often pbkdf2 is repeated')
    return pbkdf2Async(password, salt, c, dklen, 'sha256')
  }
  if (n === undefined || r === undefined || p === undefined) throw new Error('the keystore lacks parameters of scrypt')
  // scrypt needs 128 * n * r bytes; geth's parameters take 256 MB.
  return scryptAsync(password, salt, dklen, { N: n, r, p, maxmem: 128 * n * r + (1 << 20) })
}

/** Throws a fixed text: the parser's error would quote the file, which may be a key that is not encrypted. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('not a keystore of version 3: not JSON')
  }
}

/** Returns the private key in an encrypted keystore. Throws for a wrong password or a damaged file. */
export async function openKeystore(text: string, password: string): Promise<Hex> {
  const parsed = keystore.safeParse(lowerKeys(parseJson(text)))
  if (!parsed.success) throw new Error(`not a keystore of version 3: ${parsed.error.issues[0]?.path.join('.')}`)
  const { crypto } = parsed.data
  const key = await deriveKey(crypto, password)
  const ciphertext = Buffer.from(crypto.ciphertext, 'hex')
  const mac = keccak256(`0x${Buffer.concat([key.subarray(16, 32), ciphertext]).toString('hex')}`)
  if (!timingSafeEqual(Buffer.from(mac.slice(2), 'hex'), Buffer.from(crypto.mac, 'hex')))
    throw new Error('the password of the keystore is wrong, or the file is damaged')
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), Buffer.from(crypto.cipherparams.iv, 'hex'))
  return `0x${Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('hex')}`
}

/** Lowercases all names: some programs write `Crypto` instead of `crypto`. */
function lowerKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name.toLowerCase(), lowerKeys(part)]))
}
