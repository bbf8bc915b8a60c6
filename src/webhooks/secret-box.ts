import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts webhook secrets at rest: AES-256-GCM, bound to the endpoint they belong to. */
export type SecretBox = {
  seal(plain: string, endpointId: string): string
  /** Throws when the value was altered, belongs to another endpoint, or was sealed with another key. */
  open(sealed: string, endpointId: string): string
}

/** Names key and layout, so that both can change one day. */
const VERSION = 'v1'
/** The length that NIST SP 800-38D recommends for GCM. */
const IV_BYTES = 12
const TAG_BYTES = 16

/** `key` is 32 bytes in base64; anything else throws, so that nothing starts without encryption. */
export function createSecretBox(key: string): SecretBox {
  const secretKey = Buffer.from(key, 'base64')
  if (secretKey.length !== 32) throw new Error('WEBHOOK_ENCRYPTION_KEY must be 32 bytes in base64')
  return {
    seal(plain, endpointId) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', secretKey, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(endpointId))
      const parts = [iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${VERSION}.${Buffer.concat(parts).toString('base64url')}`
    },
    open(sealed, endpointId) {
      const [version, payload, ...rest] = sealed.split('.')
      const bytes = Buffer.from(payload ?? '', 'base64url')
      if (version !== VERSION || rest.length > 0 || bytes.length < IV_BYTES + TAG_BYTES)
        throw new Error('the sealed secret is not readable')
      const decipher = createDecipheriv('aes-256-gcm', secretKey, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(endpointId))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
