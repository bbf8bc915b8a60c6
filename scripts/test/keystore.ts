import { createCipheriv, randomBytes, scryptSync } from 'node:crypto'
import { keccak256 } from 'viem/utils'
import type { Hex } from '../../src/domain/hex.ts'

/** A keystore as geth writes it (r = 8), with less work. */
export function scryptKeystore(secret: Hex, password: string) {
  const [salt, iv] = [randomBytes(32), randomBytes(16)]
  const key = scryptSync(password, salt, 32, { N: 8192, r: 8, p: 1 })
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(secret.slice(2), 'hex')), cipher.final()])
  const mac = keccak256(Buffer.concat([key.subarray(16), ciphertext])).slice(2)
  const kdfparams = { dklen: 32, n: 8192, r: 8, p: 1, salt: salt.toString('hex') }
  const sealed = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: iv.toString('hex') },
    ciphertext: ciphertext.toString('hex'),
  }
  return { version: 3, crypto: { ...sealed, kdf: 'scrypt', kdfparams, mac } }
}
