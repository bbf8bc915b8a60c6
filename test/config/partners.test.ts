import { describe, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { preflightProblems, readApiConfig, readSandboxConfig, readWorkerConfig } from '../../src/config/config.ts'
import { DEVELOPMENT_MARK } from '../../src/config/development.ts'
import { readCallbacks, readCalls, readSimulator } from '../../src/config/partners.ts'

const TEST = {
  ...TEST_ENVIRONMENT,
  DATABASE_URL: 'postgres://127.0.0.1/pinrail',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  TREASURY_KEY: `0x${'1'.repeat(64)}`,
  RELAYER_KEYS: `0x${'2'.repeat(64)}`,
}

const STRIPE = {
  PROVIDER_CARD_PARTNER: 'stripe',
  CARD_PARTNER_ACCOUNT: 'acct_1Pinrail',
  CARD_PARTNER_SECRET: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  CARD_PARTNER_WEBHOOK_SECRETS: 'whsec_new, whsec_old',
} as const

/** Returns the problems that api and worker report. */
const listProblems = (changes: Record<string, string | undefined>): string => {
  const env = { ...TEST, ...STRIPE, CARD_PARTNER_URL: undefined, ...changes }
  return [readApiConfig, readWorkerConfig].map((read) => catchMessage(() => read(env))).join('\n')
}

function catchMessage(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

describe('The driver of a provider', () => {
  test('every provider without a configured driver uses the simulator, which needs a URL', () => {
    expect(readCalls(readWorkerConfig(TEST), 'card_partner')).toEqual({
      driver: 'simulator',
      url: TEST.CARD_PARTNER_URL,
      account: 'pinrail',
      secret: TEST.CARD_PARTNER_SECRET,
    })
    expect(() => readWorkerConfig({ ...TEST, CARD_PARTNER_URL: undefined })).toThrow(
      'CARD_PARTNER_URL: must be set, because PROVIDER_CARD_PARTNER is simulator',
    )
  })

  test('Stripe has its own URL, and each secret of a rotation verifies callbacks', () => {
    const env = { ...TEST, ...STRIPE, CARD_PARTNER_URL: undefined }
    expect(readCalls(readWorkerConfig(env), 'card_partner')).toEqual({
      driver: 'stripe',
      url: 'https://api.stripe.com',
      account: 'acct_1Pinrail',
      secret: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
    })
    expect(readCallbacks(readApiConfig(env), 'card_partner')).toEqual({
      driver: 'stripe',
      url: null,
      account: 'acct_1Pinrail',
      webhookSecrets: ['whsec_new', 'whsec_old'],
    })
    expect(readCallbacks(readApiConfig(env), 'wallet_app').driver).toBe('simulator')
  })

  test('the api starts without the secrets of the calls, and the worker without those of callbacks', () => {
    const without = (ending: RegExp) =>
      Object.fromEntries(
        Object.entries({ ...TEST, ...STRIPE }).filter(([name]) => !ending.test(name) || name === 'CONVERTER_SECRET'),
      )
    const [api, worker] = [without(/_SECRET$/), without(/_WEBHOOK_SECRETS$/)]
    expect(Object.keys(api)).not.toContain('CARD_PARTNER_SECRET')
    expect(readCallbacks(readApiConfig(api), 'card_partner').webhookSecrets).toEqual(['whsec_new', 'whsec_old'])
    expect(readCalls(readWorkerConfig(worker), 'card_partner').secret).toBe(STRIPE.CARD_PARTNER_SECRET)
    expect(catchMessage(() => readApiConfig(worker))).toContain('CARD_PARTNER_WEBHOOK_SECRETS: must be set')
    expect(catchMessage(() => readWorkerConfig(api))).toContain('CARD_PARTNER_SECRET: must be set')
  })

  test('the api does not keep a secret of the calls, even if its environment has one', () => {
    const config = JSON.stringify(Object.keys(readApiConfig({ ...TEST, ...STRIPE })))
    for (const name of ['WALLET_APP_SECRET', 'CARD_PARTNER_SECRET', 'LOCAL_PARTNER_SECRET'])
      expect(config).not.toContain(`"${name}"`)
  })

  test('the simulators read both secrets, and no URL', () => {
    const config = readSandboxConfig({
      ...TEST,
      ...STRIPE,
      SANDBOX_DATA: '/tmp/nowhere',
      SANDBOX_CALLBACK_URL: 'http://127.0.0.1:9',
    })
    expect(readSimulator(config, 'card_partner')).toEqual({
      driver: 'stripe',
      account: 'acct_1Pinrail',
      secret: STRIPE.CARD_PARTNER_SECRET,
      webhookSecrets: ['whsec_new', 'whsec_old'],
    })
  })

  test.each([
    ['PROVIDER_CARD_PARTNER', 'paypal', 'must be one of simulator, stripe'],
    ['PROVIDER_LOCAL_PARTNER', 'stripe', 'must be one of'],
    [
      'CARD_PARTNER_ACCOUNT',
      'pinrail',
      'must be the id of the account: acct_…, because PROVIDER_CARD_PARTNER is stripe',
    ],
    ['CARD_PARTNER_SECRET', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'must be a key of test mode'],
    ['CARD_PARTNER_SECRET', 'pk_test_4eC39HqLyjWDarjtT1zdp7dc', 'must be a key of test mode'],
    ['CARD_PARTNER_WEBHOOK_SECRETS', undefined, 'must be set'],
    ['CARD_PARTNER_WEBHOOK_SECRETS', 'whsec_new,old', 'must be the signing secrets of the webhook endpoint'],
  ])('%s=%s is refused with what it must be', (name, value, must) => {
    expect(listProblems({ [name]: value })).toContain(`${name}: ${must}`)
  })

  test('Cashfree signs callbacks with the secret of the calls, which live mode accepts, and needs a phone number', () => {
    const secret = 'cfsk_ma_prod_9sKd3FgHj5kLm8Qw'
    const cashfree = {
      ...LIVE_ENVIRONMENT,
      PROVIDER_LOCAL_PARTNER: 'cashfree',
      LOCAL_PARTNER_URL: undefined,
      LOCAL_PARTNER_ACCOUNT: '1Pinrail',
      LOCAL_PARTNER_SECRET: secret,
      LOCAL_PARTNER_WEBHOOK_SECRETS: secret,
      LOCAL_PARTNER_PHONE: '9876543210',
    }
    const problems = (changes: object): string[] =>
      preflightProblems({ ...cashfree, ...changes }).map(({ name, must }) => `${name}: ${must}`)
    expect(problems({})).toEqual([])
    expect(problems({ LOCAL_PARTNER_PHONE: undefined })).toEqual([
      'LOCAL_PARTNER_PHONE: must be set, because PROVIDER_LOCAL_PARTNER is cashfree',
    ])
    expect(problems({ LOCAL_PARTNER_PHONE: '+91 98765' })).toEqual([
      'LOCAL_PARTNER_PHONE: must be ten digits of a mobile phone in India',
    ])
    const test = secret.replace('prod', 'test')
    expect(problems({ LOCAL_PARTNER_SECRET: test, LOCAL_PARTNER_WEBHOOK_SECRETS: test }).join()).toContain(
      'LOCAL_PARTNER_SECRET: must be a client secret of production',
    )
    expect(problems({ LOCAL_PARTNER_WEBHOOK_SECRETS: LIVE_ENVIRONMENT.CONVERTER_SECRET }).join()).toContain(
      'must not be the same as',
    )
  })

  const RAZORPAY = {
    PROVIDER_LOCAL_PARTNER: 'razorpay',
    LOCAL_PARTNER_ACCOUNT: 'rzp_test_1Pinrail',
    LOCAL_PARTNER_SECRET: 'secret-of-razorpay',
  }
  const REVOLUT = { PROVIDER_WALLET_APP: 'revolut', WALLET_APP_SECRET: 'sk_of_revolut', WALLET_APP_URL: undefined }

  test('no mode starts with what is the other mode’s: play money pays for nothing, and no buyer pays for a test', () => {
    const live = (changes: object): string[] =>
      preflightProblems({ ...LIVE_ENVIRONMENT, ...changes }).map(({ name, must }) => `${name}: ${must}`)
    expect(live({ LOCAL_PARTNER_ACCOUNT: 'rzp_test_1Pinrail' })).toEqual([
      expect.stringContaining('LOCAL_PARTNER_ACCOUNT: must be the id of a key of live mode'),
    ])
    expect(live({ WALLET_APP_URL: 'https://SANDBOX-merchant.revolut.com./' })).toEqual([
      'WALLET_APP_URL: must be of live mode, such as https://merchant.revolut.com, because PROVIDER_WALLET_APP is revolut',
    ])
    expect(listProblems({ ...RAZORPAY, LOCAL_PARTNER_ACCOUNT: 'rzp_live_1Pinrail' })).toContain(
      'LOCAL_PARTNER_ACCOUNT: must be the id of a key of test mode',
    )
    expect(listProblems({ ...REVOLUT, WALLET_APP_URL: 'https://merchant.revolut.com' })).toContain(
      'WALLET_APP_URL: must be of test mode, such as https://sandbox-merchant.revolut.com',
    )
  })

  test('without a URL each mode calls the company’s API of that mode', () => {
    expect(readCalls(readWorkerConfig({ ...TEST, ...REVOLUT }), 'wallet_app').url).toBe(
      'https://sandbox-merchant.revolut.com',
    )
    const live = readWorkerConfig({ ...LIVE_ENVIRONMENT, WALLET_APP_URL: undefined })
    expect(readCalls(live, 'wallet_app').url).toBe('https://merchant.revolut.com')
  })

  test('live mode refuses keys of test mode and secrets made for development', () => {
    const live = { ...LIVE_ENVIRONMENT, ...STRIPE, CARD_PARTNER_URL: undefined }
    const problems = (changes: object): string[] =>
      preflightProblems({ ...live, ...changes }).map(({ name, must }) => `${name}: ${must}`)
    const secrets = { CARD_PARTNER_SECRET: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc' }
    const webhooks = { CARD_PARTNER_WEBHOOK_SECRETS: 'whsec_Wb7xq2LmN4pRt6Vz,whsec_9sKd3FgHj5kLm8Qw' }
    expect(problems({ ...secrets, ...webhooks })).toEqual([])
    expect(problems(webhooks)).toEqual([expect.stringContaining('CARD_PARTNER_SECRET: must be a key of live mode')])
    const marked = `whsec_${DEVELOPMENT_MARK}-card-partner`
    expect(problems({ ...secrets, CARD_PARTNER_WEBHOOK_SECRETS: marked })).toEqual([
      'CARD_PARTNER_WEBHOOK_SECRETS: must not be made for development',
    ])
  })
})
