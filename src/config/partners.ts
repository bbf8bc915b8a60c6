import { z } from 'zod'
import { PROVIDER_NAMES, type ProviderName } from '../domain/methods.ts'
import { DRIVERS, type DriverName, type PartnerSettings } from '../domain/partner/drivers.ts'
import type { Problem, Settings } from './live.ts'
import { Secret, splitSecrets } from './secret.ts'

const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value))

/** A provider's account at its partner. The driver decides the form of each value. */
const accountShape = {
  ACCOUNT: z.string().default('pinrail'),
  /** Authenticates calls to the partner. */
  SECRET: secret,
  /**
   * The secrets that sign callbacks, comma separated: while one replaces another, both are accepted. Default: the
   * secret, with which the simulator signs.
   */
  WEBHOOK_SECRETS: secret.optional(),
} as const

/** The driver of each provider, and its account there, for every process that calls partners or plays them. */
export const accountsShape = {
  PROVIDER_WALLET_APP: z.enum(DRIVERS.wallet_app).default('simulator'),
  PROVIDER_CARD_PARTNER: z.enum(DRIVERS.card_partner).default('simulator'),
  PROVIDER_LOCAL_PARTNER: z.enum(DRIVERS.local_partner).default('simulator'),
  WALLET_APP_ACCOUNT: accountShape.ACCOUNT,
  WALLET_APP_SECRET: accountShape.SECRET,
  WALLET_APP_WEBHOOK_SECRETS: accountShape.WEBHOOK_SECRETS,
  CARD_PARTNER_ACCOUNT: accountShape.ACCOUNT,
  CARD_PARTNER_SECRET: accountShape.SECRET,
  CARD_PARTNER_WEBHOOK_SECRETS: accountShape.WEBHOOK_SECRETS,
  LOCAL_PARTNER_ACCOUNT: accountShape.ACCOUNT,
  LOCAL_PARTNER_SECRET: accountShape.SECRET,
  LOCAL_PARTNER_WEBHOOK_SECRETS: accountShape.WEBHOOK_SECRETS,
} as const

/** The URLs of the partners. Default: the company's own; the simulator has none. */
export const partnersShape = {
  ...accountsShape,
  WALLET_APP_URL: z.url().optional(),
  CARD_PARTNER_URL: z.url().optional(),
  LOCAL_PARTNER_URL: z.url().optional(),
  /** Sent to Cashfree as the phone number of every buyer: ten digits, without the country's code. */
  LOCAL_PARTNER_PHONE: z
    .string()
    .regex(/^[6-9]\d{9}$/, 'must be ten digits of a mobile phone in India')
    .optional(),
} as const

type Rule = readonly [pattern: RegExp, must: string]

/** A text in which nothing shows the company or the mode. */
const ANY: Rule = [/^\S+$/, 'must have no blanks']
const REVOLUT_KEY: Rule = [/^sk_\S+$/, 'must be the secret key of the Merchant API: sk_…']

/** The form of each company's credentials: a wrong one is refused at the start and not at the first call. */
const CREDENTIALS: Record<
  Exclude<DriverName, 'simulator'>,
  {
    readonly url: string
    readonly account: Rule
    readonly secret: Readonly<Record<'test' | 'live', Rule>>
    readonly webhookSecret: Rule
    /** More variables that must be set. */
    readonly needs?: readonly string[]
  }
> = {
  cashfree: {
    url: 'https://api.cashfree.com',
    account: [/^\w+$/, 'must be the client id'],
    secret: {
      test: [/^(?!cfsk_ma_prod_)\S+$/, 'must be a client secret of the test environment'],
      live: [/^(?!cfsk_ma_test_)\S+$/, 'must be a client secret of production'],
    },
    // Cashfree signs with the client secret.
    webhookSecret: ANY,
    needs: ['PHONE'],
  },
  razorpay: {
    url: 'https://api.razorpay.com',
    account: [/^rzp_(?:test|live)_\w+$/, 'must be the id of the key: rzp_test_… or rzp_live_…'],
    secret: { test: ANY, live: ANY },
    webhookSecret: ANY,
  },
  revolut: {
    url: 'https://merchant.revolut.com',
    account: ANY,
    // Keys of both modes look alike; the sandbox has another URL.
    secret: { test: REVOLUT_KEY, live: REVOLUT_KEY },
    webhookSecret: [/^wsk_\S+$/, 'must be the signing secrets of the webhook, comma separated: wsk_…'],
  },
  stripe: {
    url: 'https://api.stripe.com',
    account: [/^acct_\w+$/, 'must be the id of the account: acct_…'],
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
    return [
      ...check(`${at}_ACCOUNT`, rules.account),
      ...check(`${at}_SECRET`, rules.secret[settings['PINRAIL_MODE'] === 'live' ? 'live' : 'test']),
      ...missing(`${at}_WEBHOOK_SECRETS`),
      ...check(`${at}_WEBHOOK_SECRETS`, rules.webhookSecret),
      ...(rules.needs ?? []).flatMap((name) => missing(`${at}_${name}`)),
    ]
  })
}

type Accounts = z.infer<z.ZodObject<typeof accountsShape>>
type Partners = z.infer<z.ZodObject<typeof partnersShape>>

export function readAccount(accounts: Accounts, provider: ProviderName): Omit<PartnerSettings, 'url'> {
  const at = prefix(provider)
  const ownSecret = accounts[`${at}_SECRET`]
  const webhookSecrets = accounts[`${at}_WEBHOOK_SECRETS`]
  return {
    driver: accounts[`PROVIDER_${at}`],
    account: accounts[`${at}_ACCOUNT`],
    secret: ownSecret.reveal(),
    webhookSecrets: webhookSecrets === undefined ? [ownSecret.reveal()] : splitSecrets(webhookSecrets),
  }
}

/** Throws if a partner has no URL, which `partnerProblems` reports. */
export function readPartner(partners: Partners, provider: ProviderName): PartnerSettings {
  const account = readAccount(partners, provider)
  const { driver } = account
  const url = partners[`${prefix(provider)}_URL`] ?? (driver === 'simulator' ? undefined : CREDENTIALS[driver].url)
  if (url === undefined) throw new Error(`${prefix(provider)}_URL must be set`)
  return { ...account, url, ...(provider === 'local_partner' && { phone: partners.LOCAL_PARTNER_PHONE }) }
}
