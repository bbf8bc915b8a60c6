import { describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { readApiConfig } from '../../src/config/config.ts'

const TEST = { ...TEST_ENVIRONMENT, DATABASE_URL: 'postgres://127.0.0.1/pinrail' }

describe('The configuration of the platform', () => {
  test.each(['IMPRINT_URL', 'TERMS_URL', 'PRIVACY_URL', 'STATUS_PAGE_URL'])(
    '%s is the address of a page, and no script that the foot of each page would link to',
    (name) => {
      for (const address of ['javascript:alert(1)', 'data:text/html,x', 'terms'])
        expect(() => readApiConfig({ ...TEST, [name]: address })).toThrow('must be the address of a page')
      expect(readApiConfig({ ...TEST, [name]: 'https://pay.example/x' })).toMatchObject({
        [name]: 'https://pay.example/x',
      })
    },
  )

  test.each(['\u200b', 'Nordpay\r\nBcc: all@shop.example', 'Nord\u202epay', 'x'.repeat(61)])(
    'a platform cannot be called %j',
    (name) => {
      expect(() => readApiConfig({ ...TEST, PLATFORM_NAME: name })).toThrow('PLATFORM_NAME')
    },
  )
})
