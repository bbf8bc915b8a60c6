import type { ProviderName } from '../../src/domain/methods.ts'
import {
  type CallbackAccount,
  DRIVERS,
  type DriverName,
  type PartnerSettings,
} from '../../src/domain/partner/drivers.ts'

export type DriverChoice = Readonly<Partial<Record<ProviderName, DriverName>>>

type Account = Omit<PartnerSettings, 'url'> & CallbackAccount

/** Credentials that look like the company's, made of a secret for development. */
const ACCOUNTS: Readonly<Record<DriverName, (secret: string) => Omit<Account, 'driver'>>> = {
  simulator: (secret) => ({ account: 'pinrail', secret, webhookSecrets: [secret] }),
  cashfree: (secret) => {
    const key = secret.replaceAll(/\s/g, '_')
    return { account: 'TEST1Sandbox', secret: key, webhookSecrets: [key], phone: '9876543210' }
  },
  razorpay: (secret) => {
    const key = secret.replaceAll(/\s/g, '_')
    return { account: 'rzp_test_sandbox', secret: key, webhookSecrets: [`${key}-webhook`] }
  },
  revolut: (secret) => ({
    account: 'pinrail',
    secret: `sk_${secret.replaceAll(/\s/g, '_')}`,
    webhookSecrets: [`wsk_${secret.replaceAll(/\s/g, '_')}`],
  }),
  stripe: (secret) => ({
    account: 'acct_sandbox',
    secret: `sk_test_${secret.replaceAll(/\W/g, '_')}`,
    webhookSecrets: [`whsec_${secret.replaceAll(/\s/g, '_')}`],
  }),
}

/** Creates the platform's account at a partner whose simulator speaks the driver's protocol. */
export const createAccount = (driver: DriverName, secret: string): Account => ({ driver, ...ACCOUNTS[driver](secret) })

/** Returns the variables that configure the account: `calls` for whom calls the partner, `callbacks` for whom it calls. */
export function accountVariables(provider: ProviderName, account: Account) {
  const at = provider.toUpperCase()
  const both = { [`PROVIDER_${at}`]: account.driver, [`${at}_ACCOUNT`]: account.account }
  return {
    calls: {
      ...both,
      [`${at}_SECRET`]: account.secret,
      ...(account.phone !== undefined && { [`${at}_PHONE`]: account.phone }),
    },
    callbacks: { ...both, [`${at}_WEBHOOK_SECRETS`]: account.webhookSecrets.join(',') },
  }
}

/** Returns the driver of each provider that the environment names. */
export function readDrivers(env: NodeJS.ProcessEnv): DriverChoice {
  const names = Object.keys(DRIVERS) as ProviderName[]
  const chosen = names.flatMap((name) => {
    const driver = env[`PROVIDER_${name.toUpperCase()}`]
    return driver ? [[name, driver as DriverName]] : []
  })
  return Object.fromEntries(chosen) as DriverChoice
}
