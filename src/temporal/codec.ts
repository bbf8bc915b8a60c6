import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec } from '@temporalio/common'
import { refusedMessage } from './refused-message.ts'

const ENCODING = 'binary/encrypted'
const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID = 'encryption-key-id'

/** A key of AES-256, and the id by which a payload names it. */
export type CodecKey = { readonly id: string; readonly key: Buffer }

/** Thrown for a payload in Temporal that this deployment did not write. */
class RefusedPayload extends Error {}

/** `<id>:<32 bytes in base64>`, several comma separated. Throws for another form, and for an id used twice. */
export function parseCodecKeys(text: string): readonly CodecKey[] {
  const keys = text.split(',').map((entry) => {
    const [id = '', base64 = ''] = entry.trim().split(':')
    return { id, key: Buffer.from(base64, 'base64') }
  })
  if (keys.some(({ id, key }) => id === '' || key.length !== 32))
    throw new Error('TEMPORAL_CODEC_KEYS must be <id>:<32 bytes in base64>, several comma separated')
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new Error('TEMPORAL_CODEC_KEYS must name each id once')
  return keys
}

/**
 * The first key encrypts, each key decrypts the payloads that name it. Plaintext is refused: whoever can write to
 * Temporal's store must not be able to plant a payload.
 */
export function createPayloadCodec(keys: readonly CodecKey[]): PayloadCodec {
  const [first] = keys
  if (first === undefined) throw new Error('the payload codec needs a key')
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, first)),
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, keys)),
  }
}

/**
 * A foreign message of a workflow becomes a value that src/temporal/refuse-plaintext.ts refuses: an error here would be
 * repeated for as long as the message is in the history, and would block the payment. Answers of activities are never
 * replaced. A missing key throws everywhere: the payload might be genuine.
 */
export function createWorkerCodec(keys: readonly CodecKey[]): PayloadCodec {
  const strict = createPayloadCodec(keys)
  return {
    encode: (payloads) => strict.encode(payloads),
    decode: async (payloads, context) =>
      payloads.map((payload) => {
        try {
          return decrypt(payload, keys)
        } catch (error) {
          if (context?.type === 'workflow' && error instanceof RefusedPayload) return refusal(error.message)
          throw error
        }
      }),
  }
}

function refusal(why: string): Payload {
  const data = Buffer.from(JSON.stringify(refusedMessage(why)))
  return { metadata: { encoding: Buffer.from('json/plain') }, data }
}

function encrypt(payload: Payload, { id, key }: CodecKey): Payload {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const plain = JSON.stringify({
    metadata: Object.fromEntries(
      Object.entries(payload.metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    data: Buffer.from(payload.data ?? new Uint8Array()).toString('base64'),
  })
  const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final()])
  return {
    metadata: { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([sealed, cipher.getAuthTag()]),
  }
}

const readText = (payload: Payload, name: string): string =>
  Buffer.from(payload.metadata?.[name] ?? new Uint8Array()).toString()

function decrypt(payload: Payload, keys: readonly CodecKey[]): Payload {
  if (readText(payload, 'encoding') !== ENCODING)
    throw new RefusedPayload('refused a payload that is not encrypted: use the codec server (--codec-endpoint)')
  const id = readText(payload, KEY_ID)
  const found = keys.find((key) => key.id === id)
  if (found === undefined)
    throw new Error(`TEMPORAL_CODEC_KEYS has no key ${JSON.stringify(id)}, which a payload needs`)
  const plain = open(Buffer.from(payload.data ?? new Uint8Array()), found)
  const { metadata, data } = JSON.parse(plain) as { metadata: Record<string, string>; data: string }
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
    data: Buffer.from(data, 'base64'),
  }
}

function open(sealed: Buffer, { id, key }: CodecKey): string {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const body = sealed.subarray(IV_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch (error) {
    throw new RefusedPayload(`refused a payload that the key ${id} did not encrypt`, { cause: error })
  }
}
