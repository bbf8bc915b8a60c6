import { describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { readLinksWithoutAccount, readSignUp, readStandardAgreement } from '../../src/config/agreement.ts'
import { readApiConfig, readCommandConfig } from '../../src/config/config.ts'

const TEST = { ...TEST_ENVIRONMENT, DATABASE_URL: 'postgres://127.0.0.1/pinrail' }

describe('The configuration of merchants', () => {
  test('sign-up is closed in live mode and open in test mode, unless the operator says otherwise', () => {
    const signUp = (env: Record<string, string>) => readSignUp(readApiConfig(env))
    expect([signUp(LIVE_ENVIRONMENT), signUp(TEST)]).toEqual(['closed', 'open'])
    expect(signUp({ ...LIVE_ENVIRONMENT, SIGN_UP: 'invited' })).toBe('invited')
    expect(() => readApiConfig({ ...LIVE_ENVIRONMENT, SIGN_UP: 'yes' })).toThrow('SIGN_UP')
  })

  test('links without an account, which need no approval, are off in live mode unless the operator allows them', () => {
    const hasLinks = (env: Record<string, string>) => readLinksWithoutAccount(readApiConfig(env))
    expect([hasLinks(LIVE_ENVIRONMENT), hasLinks(TEST)]).toEqual([false, true])
    expect(hasLinks({ ...LIVE_ENVIRONMENT, LINKS_WITHOUT_ACCOUNT: 'true' })).toBe(true)
    expect(hasLinks({ ...TEST, LINKS_WITHOUT_ACCOUNT: 'false' })).toBe(false)
  })

  test('the standard agreement is 4.5% without limits of amounts, and the commands read the same one as the API', () => {
    const { OPEN_PAYMENTS: _open, ...env } = TEST as Record<string, string>
    expect(readStandardAgreement(readApiConfig(env))).toEqual({
      feePercent: '4.5',
      limits: { paymentMicro: null, dayMicro: null, openPayments: 10_000 },
      reserve: { percent: '0', days: 90 },
    })
    expect(readStandardAgreement(readApiConfig(LIVE_ENVIRONMENT)).limits.openPayments).toBe(100_000)
    const changed = {
      ...env,
      FEE_PERCENT: '3.90',
      PAYMENT_LIMIT_USDC: '500',
      DAY_LIMIT_USDC: '2000',
      OPEN_PAYMENTS: '50',
      RESERVE_PERCENT: '5',
      RESERVE_DAYS: '120',
    }
    const expected = {
      feePercent: '3.9',
      limits: { paymentMicro: '500000000', dayMicro: '2000000000', openPayments: 50 },
      reserve: { percent: '5', days: 120 },
    }
    expect(readStandardAgreement(readApiConfig(changed))).toEqual(expected)
    expect(readStandardAgreement(readCommandConfig(changed))).toEqual(expected)
  })

  test.each(['4,5', '51', '-1', '4.555', 'free'])('a fee of %j is refused with what it must be', (fee) => {
    expect(() => readApiConfig({ ...TEST, FEE_PERCENT: fee })).toThrow(
      'must be a percentage from 0 to 50 with at most two decimals, such as 4.5',
    )
  })
})
