import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** An authenticator of passkeys (WebAuthn Level 3, 6.1 and 6.5.1), honest or dishonest. */
export type Lies = {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly counter?: number
  /** Flags of the authenticator data: 1 present, 4 verified, 64 with a new key. */
  readonly flags?: number
  readonly challenge?: string
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** The forms of CBOR (RFC 8949) that a registration needs. */
const head = (major: number, length: number): Buffer =>
  length < 24
    ? Buffer.from([(major << 5) | length])
    : length < 256
      ? Buffer.from([(major << 5) | 24, length])
      : Buffer.from([(major << 5) | 25, length >> 8, length & 255])
const bytes = (data: Buffer): Buffer => Buffer.concat([head(2, data.length), data])
const text = (data: string): Buffer => Buffer.concat([head(3, data.length), Buffer.from(data)])
const int = (value: number): Buffer => (value >= 0 ? head(0, value) : head(1, -1 - value))

export function createAuthenticator(honest: { origin: string; rpId: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  let counter = 0

  const clientData = (type: string, challenge: string, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? honest.origin,
        crossOrigin: false,
      }),
    )
  const authData = (flags: number, lies: Lies): Buffer => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(lies.counter ?? (counter += 1))
    return Buffer.concat([sha256(lies.rpId ?? honest.rpId), Buffer.from([lies.flags ?? flags]), count])
  }
  const base = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' }

  return {
    id: base.id,

    create(options: string, lies: Lies = {}): string {
      const { challenge } = JSON.parse(options) as { challenge: string }
      const client = clientData('webauthn.create', challenge, lies)
      const key = [int(1), int(2), int(3), int(-7), int(-1), int(1), int(-2), bytes(Buffer.from(x, 'base64url'))]
      const cose = Buffer.concat([head(5, 5), ...key, int(-3), bytes(Buffer.from(y, 'base64url'))])
      const data = Buffer.concat([authData(0x45, lies), Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const object = [head(5, 3), text('fmt'), text('none'), text('attStmt'), head(5, 0), text('authData'), bytes(data)]
      const response = {
        clientDataJSON: client.toString('base64url'),
        attestationObject: Buffer.concat(object).toString('base64url'),
        transports: ['internal'],
      }
      return JSON.stringify({ ...base, clientExtensionResults: {}, response })
    },

    get(options: string, lies: Lies = {}): string {
      const { challenge } = JSON.parse(options) as { challenge: string }
      const client = clientData('webauthn.get', challenge, lies)
      const data = authData(0x05, lies)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      const response = {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      }
      return JSON.stringify({ ...base, clientExtensionResults: {}, response })
    },
  }
}
