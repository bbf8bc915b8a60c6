import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec } from '@temporalio/common'

const ENCODING = 'binary/encrypted'
const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM over every payload. With a key configured, plaintext is refused: whoever can write to Temporal's store
 * must not be able to plant a payload.
 */
export function createPayloadCodec(keyBase64: string): PayloadCodec {
  const key = Buffer.from(keyBase64, 'base64')
  if (key.length !== 32) throw new Error('TEMPORAL_CODEC_KEY must be 32 bytes in base64')
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, key)),
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, key)),
  }
}

function encrypt(payload: Payload, key: Buffer): Payload {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const plain = JSON.stringify({
    metadata: Object.fromEntries(
      Object.entries(payload.metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    data: Buffer.from(payload.data ?? new Uint8Array()).toString('base64'),
  })
  const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final()])
  return { metadata: { encoding: Buffer.from(ENCODING) }, data: Buffer.concat([sealed, cipher.getAuthTag()]) }
}

function decrypt(payload: Payload, key: Buffer): Payload {
  const encoding = Buffer.from(payload.metadata?.['encoding'] ?? new Uint8Array()).toString()
  if (encoding !== ENCODING) throw new Error('refused a payload that is not encrypted')
  const sealed = Buffer.from(payload.data ?? new Uint8Array())
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const plain = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString(
    'utf8',
  )
  const { metadata, data } = JSON.parse(plain) as { metadata: Record<string, string>; data: string }
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
    data: Buffer.from(data, 'base64'),
  }
}
