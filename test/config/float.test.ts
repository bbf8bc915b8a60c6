import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { readApiConfig } from '../../src/config/config.ts'

const readKeys = (pem: string) =>
  readApiConfig({
    ...TEST_ENVIRONMENT,
    DATABASE_URL: 'postgres://127.0.0.1/pinrail',
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    BRIDGE_WEBHOOK_KEYS: pem,
  }).BRIDGE_WEBHOOK_KEYS

describe('The keys of Bridge’s webhook endpoint', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  const pem = String(rsa.export({ type: 'spki', format: 'pem' }))

  test('two keys are read while one replaces the other', () => {
    expect(readKeys(`${pem}\n${pem}`)?.map((key) => key.equals(rsa))).toEqual([true, true])
  })

  test.each([
    ['a second key that is cut off', pem + pem.slice(0, 100)],
    ['a key in another form', String(rsa.export({ type: 'pkcs1', format: 'pem' }))],
    ['a key of another kind', String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }))],
    ['no key', 'none'],
  ])('the api does not start with %s, which would verify no webhook', (_name, keys) => {
    expect(() => readKeys(keys)).toThrow('BRIDGE_WEBHOOK_KEYS: must be public keys in PEM')
  })
})
