import { z } from 'zod'
import { PROVIDER_NAMES, type ProviderName } from '../domain/methods.ts'
import { type CallbackAccount, DRIVERS, type DriverName, type PartnerSettings } from '../domain/partner/drivers.ts'
import { secret } from './fields.ts'
import type { Problem, Settings } from './live.ts'
import { Secret, splitSecrets } from './secret.ts'

/** The driver of each provider, and the platform's account there. The driver decides the form of each value. */
const driversShape = {
  PROVIDER_WALLET_APP: z.enum(DRIVERS.wallet_app).default('simulator'),
  PROVIDER_CARD_PARTNER: z.enum(DRIVERS.card_partner).default('simulator'),
  PROVIDER_LOCAL_PARTNER: z.enum(DRIVERS.local_partner).default('simulator'),
  WALLET_APP_ACCOUNT: z.string().default('pinrail'),
  CARD_PARTNER_ACCOUNT: z.string().default('pinrail'),
  LOCAL_PARTNER_ACCOUNT: z.string().default('pinrail'),
} as const

/** Authenticate calls to the partners. */
const secretsShape = {
  WALLET_APP_SECRET: secret,
  CARD_PARTNER_SECRET: secret,
  LOCAL_PARTNER_SECRET: secret,
} as const

/** Sign callbacks, comma separated: during a rotation, both secrets are accepted. */
const webhookSecretsShape = {
  WALLET_APP_WEBHOOK_SECRETS: secret,
  CARD_PARTNER_WEBHOOK_SECRETS: secret,
  LOCAL_PARTNER_WEBHOOK_SECRETS: secret,
} as const

/** Default: the URL of the company's API. A simulator has no default. */
const urlsShape = {
  WALLET_APP_URL: z.url().optional(),
  CARD_PARTNER_URL: z.url().optional(),
  LOCAL_PARTNER_URL: z.url().optional(),
} as const

/** For the worker, which calls the partners: it receives no callbacks. */
export const callsShape = {
  ...driversShape,
  ...secretsShape,
  ...urlsShape,
  /** Sent to Cashfree as the phone number of every buyer: ten digits, without the country's code. */
  LOCAL_PARTNER_PHONE: z
    .string()
    .regex(/^[6-9]\d{9}$/, 'must be ten digits of a mobile phone in India')
    .optional(),
} as const

/** For the api, which receives callbacks: none of its secrets can pay or refund. It controls simulators by their URL. */
export const callbacksShape = { ...driversShape, ...webhookSecretsShape, ...urlsShape } as const

/** For the simulators of the partners. */
export const simulatorsShape = { ...driversShape, ...secretsShape, ...webhookSecretsShape } as const

type Rule = readonly [pattern: RegExp, must: string]

/** A text that shows neither the company nor the mode. */
const ANY: Rule = [/^\S+$/, 'must have no blanks']
const REVOLUT_KEY: Rule = [/^sk_\S+$/, 'must be the secret key of the Merchant API: sk_…']

type ByMode<T> = Readonly<Record<Mode, T>>
type Mode = 'test' | 'live'
const inBoth = <T>(value: T): ByMode<T> => ({ test: value, live: value })

/**
 * The form of each company's credentials: a wrong one is refused at the start and not at the first call. Key or URL
 * shows the mode, because play money must pay for nothing in live mode, and no buyer for anything in test mode.
 */
const CREDENTIALS: Record<
  Exclude<DriverName, 'simulator'>,
  {
    readonly url: ByMode<string>
    readonly account: ByMode<Rule>
    readonly secret: ByMode<Rule>
    readonly webhookSecret: Rule
    /** More variables that must be set. */
    readonly needs?: readonly string[]
  }
> = {
  cashfree: {
    url: { test: 'https://sandbox.cashfree.com', live: 'https://api.cashfree.com' },
    account: inBoth([/^\w+$/, 'must be the client id']),
    secret: {
      test: [/^(?!cfsk_ma_prod_)\S+$/, 'must be a client secret of the test environment'],
      live: [/^(?!cfsk_ma_test_)\S+$/, 'must be a client secret of production'],
    },
    // Cashfree signs with the client secret.
    webhookSecret: ANY,
    needs: ['PHONE'],
  },
  razorpay: {
    url: inBoth('https://api.razorpay.com'),
    account: {
      test: [/^rzp_test_\w+$/, 'must be the id of a key of test mode: rzp_test_…'],
      live: [/^rzp_live_\w+$/, 'must be the id of a key of live mode: rzp_live_…'],
    },
    secret: inBoth(ANY),
    webhookSecret: ANY,
  },
  revolut: {
    url: { test: 'https://sandbox-merchant.revolut.com', live: 'https://merchant.revolut.com' },
    account: inBoth(ANY),
    // Keys of both modes look alike.
    secret: inBoth(REVOLUT_KEY),
    webhookSecret: [/^wsk_\S+$/, 'must be the signing secrets of the webhook, comma separated: wsk_…'],
  },
  stripe: {
    url: inBoth('https://api.stripe.com'),
    account: inBoth([/^acct_\w+$/, 'must be the id of the account: acct_…']),
    secret: {
      test: [/^[sr]k_test_\w+$/, 'must be a key of test mode: sk_test_… or rk_test_…'],
      live: [/^[sr]k_live_\w+$/, 'must be a key of live mode: sk_live_… or rk_live_…'],
    },
    webhookSecret: [/^whsec_\S+$/, 'must be the signing secrets of the webhook endpoint, comma separated: whsec_…'],
  },
}

const prefix = (name: ProviderName): Uppercase<ProviderName> => name.toUpperCase() as Uppercase<ProviderName>

/** Returns what the drivers cannot use. A variable that is wrong in itself, or that the process does not read, is absent. */
export function partnerProblems(settings: Settings): Problem[] {
  return PROVIDER_NAMES.flatMap((provider) => {
    const [at, driver] = [prefix(provider), settings[`PROVIDER_${prefix(provider)}`] as DriverName | undefined]
    if (driver === undefined) return []
    const because = `because PROVIDER_${at} is ${driver}`
    const missing = (name: string): Problem[] =>
      name in settings && settings[name] === undefined ? [{ name, must: `must be set, ${because}` }] : []
    if (driver === 'simulator') return missing(`${at}_URL`)

    const check = (name: string, [pattern, must]: Rule): Problem[] => {
      const value = settings[name]
      const texts = value instanceof Secret ? splitSecrets(value) : [value]
      const isRight = texts.every((text) => typeof text !== 'string' || pattern.test(text))
      return isRight ? [] : [{ name, must: `${must}, ${because}` }]
    }
    const rules = CREDENTIALS[driver]
    const [mode, other] =
      settings['PINRAIL_MODE'] === 'live' ? (['live', 'test'] as const) : (['test', 'live'] as const)
    const url = settings[`${at}_URL`]
    const { [mode]: own, [other]: wrong } = rules.url
    const isOfOtherMode = typeof url === 'string' && own !== wrong && isSameHost(url, wrong)
    return [
      ...check(`${at}_ACCOUNT`, rules.account[mode]),
      ...check(`${at}_SECRET`, rules.secret[mode]),
      ...(isOfOtherMode ? [{ name: `${at}_URL`, must: `must be of ${mode} mode, such as ${own}, ${because}` }] : []),
      ...check(`${at}_WEBHOOK_SECRETS`, rules.webhookSecret),
      ...(rules.needs ?? []).flatMap((name) => missing(`${at}_${name}`)),
    ]
  })
}

/** True if both name one host, however they are written. */
const isSameHost = (one: string, other: string): boolean => getHost(one) === getHost(other)
const getHost = (url: string): string => new URL(url).hostname.replace(/\.$/, '')

type Shape<T extends z.ZodRawShape> = z.infer<z.ZodObject<T>>
type Drivers = Shape<typeof driversShape>

const readAccount = (settings: Drivers, provider: ProviderName) => ({
  driver: settings[`PROVIDER_${prefix(provider)}`],
  account: settings[`${prefix(provider)}_ACCOUNT`],
})

/** Throws if a partner has no URL, which `partnerProblems` reports. */
export function readCalls(
  settings: Shape<typeof callsShape> & { readonly PINRAIL_MODE: Mode },
  provider: ProviderName,
): PartnerSettings {
  const account = readAccount(settings, provider)
  const { driver } = account
  const own = driver === 'simulator' ? undefined : CREDENTIALS[driver].url[settings.PINRAIL_MODE]
  const url = settings[`${prefix(provider)}_URL`] ?? own
  if (url === undefined) throw new Error(`${prefix(provider)}_URL must be set`)
  return {
    ...account,
    url,
    secret: settings[`${prefix(provider)}_SECRET`].reveal(),
    ...(provider === 'local_partner' && { phone: settings.LOCAL_PARTNER_PHONE }),
  }
}

/** `url`: null if the company's own is used, which is no simulator's. */
export function readCallbacks(
  settings: Shape<typeof callbacksShape>,
  provider: ProviderName,
): CallbackAccount & { readonly url: string | null } {
  return {
    ...readAccount(settings, provider),
    webhookSecrets: splitSecrets(settings[`${prefix(provider)}_WEBHOOK_SECRETS`]),
    url: settings[`${prefix(provider)}_URL`] ?? null,
  }
}

export function readSimulator(
  settings: Shape<typeof simulatorsShape>,
  provider: ProviderName,
): CallbackAccount & Pick<PartnerSettings, 'secret'> {
  return {
    ...readAccount(settings, provider),
    secret: settings[`${prefix(provider)}_SECRET`].reveal(),
    webhookSecrets: splitSecrets(settings[`${prefix(provider)}_WEBHOOK_SECRETS`]),
  }
}
