import { describe, expect, test } from '@jest/globals'
import { createAddresses, unusedVariables, withCallersVariables } from '../../../scripts/system/environment.ts'
import { DEFAULT_PORTS } from '../../../scripts/system/ports.ts'
import type { Secrets } from '../../../scripts/system/secrets.ts'

const addresses = (publicUrl?: string) => createAddresses(DEFAULT_PORTS, {} as Secrets, { publicUrl })

describe('The variables of npm start', () => {
  test('the api’s URL for people has a host name, with which browsers make passkeys', () => {
    expect(addresses()).toMatchObject({ apiUrl: 'http://localhost:4242', publicUrl: 'http://localhost:4242' })
  })

  test('a PUBLIC_URL of the caller is the one for people, and programs here use the local address', () => {
    expect(addresses('https://shop.tunnel.example')).toMatchObject({
      apiUrl: 'http://localhost:4242',
      publicUrl: 'https://shop.tunnel.example',
    })
  })

  test('webhook targets of the caller are added to the inbox', () => {
    const ours = { WEBHOOK_TEST_TARGETS: '127.0.0.1:4301', LOG_LEVEL: 'info' }
    expect(withCallersVariables(ours, { WEBHOOK_TEST_TARGETS: 'localhost:3000', LOG_LEVEL: 'warn' })).toEqual({
      WEBHOOK_TEST_TARGETS: '127.0.0.1:4301,localhost:3000',
      LOG_LEVEL: 'warn',
    })
    expect(withCallersVariables(ours, {})).toEqual(ours)
  })

  test('a variable that the start sets itself is refused by name', () => {
    expect(unusedVariables({ API_PORT: '5000', PUBLIC_URL: 'https://shop.example', LOG_LEVEL: 'warn' })).toEqual([
      'API_PORT',
    ])
  })
})
