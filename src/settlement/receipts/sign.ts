import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { ReceiptClaims, ReceiptKey, ReceiptSignature } from '../../domain/settlement/receipt.ts'

export type ReceiptSigner = {
  readonly key: Pick<ReceiptKey, 'kid' | 'x'>
  sign(claims: ReceiptClaims): ReceiptSignature
}

/** An Ed25519 seed (RFC 8032) as PKCS #8 (RFC 8410): this prefix, and the 32 bytes. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Signs with a 32-byte key, given in base64. A signature is over the exact bytes of its payload (RFC 7515). */
export function createReceiptSigner(seed: string): ReceiptSigner {
  const bytes = Buffer.from(seed, 'base64')
  if (bytes.length !== 32) throw new RangeError('RECEIPT_KEY must be 32 bytes in base64')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, bytes]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  // RFC 7638: the required members, in the order of their names.
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
  const head = base64url({ alg: 'EdDSA', kid })
  return {
    key: { kid, x },
    sign(claims) {
      const payload = base64url(claims)
      const signature = sign(null, Buffer.from(`${head}.${payload}`), key).toString('base64url')
      return { protected: head, payload, signature }
    },
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
