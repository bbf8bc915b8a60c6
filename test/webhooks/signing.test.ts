import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { newWebhookSecret, signedHeaders } from '../../src/webhooks/sign.ts'

describe('signatures', () => {
  const body = Buffer.from('{"id":"evt_1","data":{"object":{"amount":"49.99","description":"Zażółć ⚡"}}}')

  /** The specification's computation, written a second time without the library. */
  function expectedSignature(secret: string, content: string): string {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  }

  describe('Signing a webhook', () => {
    it('a signature equals the published test vector', () => {
      const headers = signedHeaders({
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        at: 1614265330_000,
        body: Buffer.from('{"test": 2432232314}'),
        secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      })
      expect(headers).toEqual({
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      })
    })

    it('a signature is the HMAC of id, seconds and raw bytes', () => {
      const secret = newWebhookSecret()
      const headers = signedHeaders({ id: 'evt_1', at: 1795209600_999, body, secrets: [secret] })
      expect(headers['webhook-signature']).toBe(expectedSignature(secret, `evt_1.1795209600.${body.toString()}`))
    })

    it('a signature is accepted by a receiver that uses the library', () => {
      const secret = newWebhookSecret()
      const headers = signedHeaders({ id: 'evt_1', at: Date.now(), body, secrets: [secret] })
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: 'evt_1' })
    })

    it('a signature equals the library’s', () => {
      const secret = newWebhookSecret()
      const at = new Date()
      const ours = signedHeaders({ id: 'evt_1', at: at.getTime(), body, secrets: [secret] })
      expect(ours['webhook-signature']).toBe(new Webhook(secret).sign('evt_1', at, body))
    })

    it('a signature is accepted with either secret during a rotation, and with no third', () => {
      const [newer, older, stranger] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
      const headers = signedHeaders({ id: 'evt_1', at: Date.now(), body, secrets: [newer, older] })
      expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
      expect(headers['webhook-signature'].split(' ')[0]).toBe(new Webhook(newer).sign('evt_1', new Date(), body))
      for (const secret of [newer, older]) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
      expect(() => new Webhook(stranger).verify(body, headers)).toThrow('No matching signature')
    })

    it('a webhook is never sent unsigned', () => {
      expect(() => signedHeaders({ id: 'evt_1', at: 0, body, secrets: [] })).toThrow('at least one secret')
    })

    it('a secret has 32 random bytes, and differs each time', () => {
      const secrets = Array.from({ length: 200 }, newWebhookSecret)
      expect(new Set(secrets).size).toBe(200)
      for (const secret of secrets) {
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
        expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
      }
    })
  })

  describe('A signed request that was changed on its way', () => {
    it('a changed request is never accepted: 1,000 random mutations of body, id, time and signature', () => {
      const secret = newWebhookSecret()
      const headers = signedHeaders({ id: 'evt_01j0000000000000000000000', at: Date.now(), body, secrets: [secret] })
      const receiver = new Webhook(secret)
      const random = seededRandom(20261121)
      let accepted = 0
      const drawn = new Set<string>()
      for (let round = 0; round < 1000; round++) {
        const changed = mutate({ body, headers }, random)
        drawn.add(whatChanged({ body, headers }, changed))
        try {
          receiver.verify(changed.body, changed.headers, { jsonParse: false })
          accepted++
        } catch {
          // Refused, as it must be.
        }
      }
      expect(accepted).toBe(0)
      // A change that is never drawn is never refused.
      expect([...drawn].sort()).toEqual([
        'body changed',
        'body longer',
        'body shorter',
        'earlier',
        'later',
        'webhook-id',
        'webhook-signature',
      ])
    })
  })

  function whatChanged(before: Signed, after: Signed): string {
    const length = after.body.length - before.body.length
    if (!after.body.equals(before.body)) return `body ${length === 0 ? 'changed' : length > 0 ? 'longer' : 'shorter'}`
    const time = Number(after.headers['webhook-timestamp']) - Number(before.headers['webhook-timestamp'])
    if (time !== 0) return time > 0 ? 'later' : 'earlier'
    return after.headers['webhook-id'] === before.headers['webhook-id'] ? 'webhook-signature' : 'webhook-id'
  }

  type Signed = { body: Buffer; headers: ReturnType<typeof signedHeaders> }

  function mutate({ body: original, headers }: Signed, random: (below: number) => number): Signed {
    const part = random(4)
    if (part === 0) {
      const bytes = [...original]
      const at = random(bytes.length)
      const kind = random(3)
      // Only ASCII: a receiver that decodes the body gets a different text for each of these.
      if (kind === 0) bytes[at] = bytes[at] === 0x41 ? 0x42 : 0x41
      else if (kind === 1) bytes.splice(at, 0, 0x30 + random(10))
      else bytes.splice(at, 1)
      return { body: Buffer.from(bytes), headers }
    }
    const name = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)[part - 1]!
    const value = headers[name]
    if (part === 2) {
      const seconds = (1 + random(1e9)) * (random(2) === 0 ? 1 : -1)
      return { body: original, headers: { ...headers, [name]: String(Number(value) + seconds) } }
    }
    const from = part === 3 ? 3 : 0
    const at = from + random(value.length - from)
    const others = 'ABCXYZabcxyz0189'.split('').filter((character) => character !== value[at])
    const replaced = value.slice(0, at) + others[random(others.length)] + value.slice(at + random(2))
    return { body: original, headers: { ...headers, [name]: replaced } }
  }

  function seededRandom(seed: number): (below: number) => number {
    let state = seed
    return (below) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }
})

describe('Secrets at rest', () => {
  const key = randomBytes(32).toString('base64')
  const box = createSecretBox(key)

  /** The error of Node's AES-GCM for a wrong tag. */
  const NOT_AUTHENTIC = 'unable to authenticate data'

  describe('Webhook secrets at rest', () => {
    it('a stored secret is decrypted to the original', () => {
      expect(box.open(box.seal('whsec_abc', 'we_1'), 'we_1')).toBe('whsec_abc')
    })

    it('a stored secret is encrypted differently each time and never readable', () => {
      const sealed = [box.seal('whsec_abc', 'we_1'), box.seal('whsec_abc', 'we_1')]
      expect(sealed[0]).not.toBe(sealed[1])
      for (const value of sealed) expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('whsec_abc')
    })

    it('a stored secret cannot be moved to another endpoint', () => {
      expect(() => box.open(box.seal('whsec_abc', 'we_1'), 'we_2')).toThrow(NOT_AUTHENTIC)
    })

    it('a stored secret cannot be opened with another key', () => {
      const other = createSecretBox(randomBytes(32).toString('base64'))
      expect(() => other.open(box.seal('whsec_abc', 'we_1'), 'we_1')).toThrow('RETIRED_WEBHOOK_ENCRYPTION_KEYS')
    })

    it('a stored secret cannot be altered, cut or read in another layout', () => {
      const sealed = box.seal('whsec_abc', 'we_1')
      const [version, id, payload = ''] = sealed.split('.')
      const bytes = Buffer.from(payload, 'base64url')
      for (let at = 0; at < bytes.length; at++) {
        const altered = Buffer.from(bytes)
        altered[at] = (altered[at] ?? 0) ^ 1
        expect(() => box.open(`${version}.${id}.${altered.toString('base64url')}`, 'we_1')).toThrow(NOT_AUTHENTIC)
      }
      for (const wrong of ['', 'v1', 'v1.', 'v1.AAAA', sealed.replace('v2', 'v3'), `${sealed}.x`, sealed.slice(0, 20)])
        expect(() => box.open(wrong, 'we_1')).toThrow('the sealed secret is not readable')
    })

    it('a stored secret is opened by a retired key until that is removed, and sealed by the new one', () => {
      const newKey = randomBytes(32).toString('base64')
      const old = box.seal('whsec_abc', 'we_1')
      const rotated = createSecretBox(newKey, [key])
      expect(rotated.open(old, 'we_1')).toBe('whsec_abc')
      expect(rotated.isCurrent(old)).toBe(false)
      const resealed = rotated.seal('whsec_abc', 'we_1')
      expect(rotated.isCurrent(resealed)).toBe(true)
      const alone = createSecretBox(newKey)
      expect(alone.open(resealed, 'we_1')).toBe('whsec_abc')
      expect(() => alone.open(old, 'we_1')).toThrow('RETIRED_WEBHOOK_ENCRYPTION_KEYS')
      expect(() => rotated.open(old, 'we_2')).toThrow(NOT_AUTHENTIC)
    })

    it('secrets from before the keys had ids are opened by every key', () => {
      const old = box.seal('whsec_abc', 'we_1').replace(/^v2\.\w{8}\./, 'v1.')
      expect(createSecretBox(randomBytes(32).toString('base64'), [key]).open(old, 'we_1')).toBe('whsec_abc')
      expect(() => createSecretBox(randomBytes(32).toString('base64')).open(old, 'we_1')).toThrow(NOT_AUTHENTIC)
    })

    it('sealing needs a key of 32 bytes: nothing starts without encryption', () => {
      for (const wrong of ['', 'short', randomBytes(16).toString('base64'), randomBytes(33).toString('base64')])
        expect(() => createSecretBox(wrong)).toThrow('WEBHOOK_ENCRYPTION_KEY must be 32 bytes')
    })
  })
})
