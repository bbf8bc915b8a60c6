import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'

const key = randomBytes(32).toString('base64')
const box = createSecretBox(key)

/** What Node's AES-GCM throws when the tag does not fit. */
const NOT_AUTHENTIC = 'unable to authenticate data'

describe('webhook secrets at rest', () => {
  it('come back as they were', () => {
    expect(box.open(box.seal('whsec_abc', 'we_1'), 'we_1')).toBe('whsec_abc')
  })

  it('are encrypted differently each time and never readable', () => {
    const sealed = [box.seal('whsec_abc', 'we_1'), box.seal('whsec_abc', 'we_1')]
    expect(sealed[0]).not.toBe(sealed[1])
    for (const value of sealed) expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('whsec_abc')
  })

  it('cannot be moved to another endpoint', () => {
    expect(() => box.open(box.seal('whsec_abc', 'we_1'), 'we_2')).toThrow(NOT_AUTHENTIC)
  })

  it('cannot be opened with another key', () => {
    const other = createSecretBox(randomBytes(32).toString('base64'))
    expect(() => other.open(box.seal('whsec_abc', 'we_1'), 'we_1')).toThrow('RETIRED_WEBHOOK_ENCRYPTION_KEYS')
  })

  it('cannot be altered, cut or read in another layout', () => {
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

  it('are opened by a retired key until it is gone, and sealed by the new one', () => {
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

  it('of the time before the keys had ids are opened by every key', () => {
    const old = box.seal('whsec_abc', 'we_1').replace(/^v2\.\w{8}\./, 'v1.')
    expect(createSecretBox(randomBytes(32).toString('base64'), [key]).open(old, 'we_1')).toBe('whsec_abc')
    expect(() => createSecretBox(randomBytes(32).toString('base64')).open(old, 'we_1')).toThrow(NOT_AUTHENTIC)
  })

  it('need a key of 32 bytes: nothing starts without encryption', () => {
    for (const wrong of ['', 'short', randomBytes(16).toString('base64'), randomBytes(33).toString('base64')])
      expect(() => createSecretBox(wrong)).toThrow('WEBHOOK_ENCRYPTION_KEY must be 32 bytes')
  })
})
