import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Encrypts webhook secrets at rest: AES-256-GCM, bound to the endpoint they belong to. */
export type SecretBox = {
  seal(plain: string, endpointId: string): string
  /** Throws if the value was altered, belongs to another endpoint, or was sealed with a key that is not here. */
  open(sealed: string, endpointId: string): string
  /** Returns true if the current key sealed it, so that no retired one is needed for it. */
  isCurrent(sealed: string): boolean
}

/** `v2.<key id>.<bytes>`. */
const VERSION = 'v2'
/** `v1.<bytes>`: sealed before the keys had ids. */
const WITHOUT_KEY_ID = 'v1'
/** The length that NIST SP 800-38D recommends for GCM. */
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals with the first key; each key opens what it has sealed. Keys are 32 bytes in base64; anything else throws, so
 * that no process starts without encryption.
 */
export function createSecretBox(key: string, retired: readonly string[] = []): SecretBox {
  const [current, ...others] = [key, ...retired].map(readKey)
  if (current === undefined) throw new Error('a secret box needs a key')
  const keys = [current, ...others]
  return {
    seal(plain, endpointId) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.bytes, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(endpointId))
      const parts = [iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${VERSION}.${current.id}.${Buffer.concat(parts).toString('base64url')}`
    },
    open(sealed, endpointId) {
      const { id, bytes } = readSealed(sealed)
      const able = id === null ? keys : keys.filter((one) => one.id === id)
      if (able.length === 0)
        throw new Error(`the sealed secret needs the key ${id}: add it to RETIRED_WEBHOOK_ENCRYPTION_KEYS`)
      return openWithAny(able, bytes, endpointId)
    },
    isCurrent: (sealed) => readSealed(sealed).id === current.id,
  }
}

type Key = { readonly id: string; readonly bytes: Buffer }

/** The id reveals nothing of the key: it is the beginning of a digest of 32 random bytes. */
function readKey(key: string): Key {
  const bytes = Buffer.from(key, 'base64')
  if (bytes.length !== 32) throw new Error('WEBHOOK_ENCRYPTION_KEY must be 32 bytes in base64')
  return { bytes, id: createHash('sha256').update('pinrail.secret-box').update(bytes).digest('hex').slice(0, 8) }
}

function readSealed(sealed: string): { id: string | null; bytes: Buffer } {
  const [version, ...parts] = sealed.split('.')
  const [payload = '', id = null] = parts.toReversed()
  const bytes = Buffer.from(payload, 'base64url')
  const isWhole = (version === VERSION && parts.length === 2) || (version === WITHOUT_KEY_ID && parts.length === 1)
  if (!isWhole || bytes.length < IV_BYTES + TAG_BYTES) throw new Error('the sealed secret is not readable')
  return { id, bytes }
}

/** Throws the first key's error if none opens it. */
function openWithAny(keys: readonly Key[], bytes: Buffer, endpointId: string): string {
  const failures: unknown[] = []
  for (const key of keys)
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(endpointId))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch (error) {
      failures.push(error)
    }
  throw failures[0]
}
