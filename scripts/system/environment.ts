import { privateKeyToAddress } from 'viem/accounts'
import { KNOWN_VARIABLES } from '../../src/config/config.ts'
import { isTemporalVariable, namesTemporal } from '../../src/config/temporal.ts'
import type { ProviderName } from '../../src/domain/methods.ts'
import { DEVELOPMENT_CHAIN_ID } from './anvil.ts'
import { accountVariables, createAccount, readDrivers } from './drivers.ts'
import type { Ports } from './ports.ts'
import { postgresUrl } from './postgres/server.ts'
import type { Secrets } from './secrets.ts'

/** Native USDC on Polygon; the development chain has Circle's code at the same address. */
export const USDC_ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'

export const DEMO_EMAIL = 'demo@shop.example'

type Environment = Record<string, string>

/** URLs of the parts, of this system or given from outside. */
export type Addresses = {
  databaseUrl: string
  temporalAddress: string
  /** Comma separated; what the worker uses, which may be a proxy in front of the chain. */
  workerRpcUrls: string
  rpcUrl: string
  apiUrl: string
  /** PUBLIC_URL: the URL for people. */
  publicUrl: string
  sandboxUrl: string
  inboxUrl: string
}

export type PartsGiven = {
  databaseUrl?: string | undefined
  temporalAddress?: string | undefined
  rpcUrls?: string | undefined
  workerRpcUrls?: string | undefined
  publicUrl?: string | undefined
}

export function createAddresses(ports: Ports, secrets: Secrets, given: PartsGiven): Addresses {
  const local = (port: number): string => `http://127.0.0.1:${port}`
  // Browsers make passkeys for a name only, so people reach the api under one.
  const apiUrl = `http://localhost:${ports.api}`
  const rpcUrls = given.rpcUrls ?? local(ports.anvil)
  return {
    databaseUrl: given.databaseUrl ?? postgresUrl({ port: ports.postgres, password: secrets.postgresPassword }),
    temporalAddress: given.temporalAddress ?? `127.0.0.1:${ports.temporal}`,
    workerRpcUrls: given.workerRpcUrls ?? rpcUrls,
    rpcUrl: rpcUrls.split(',')[0] ?? rpcUrls,
    apiUrl,
    publicUrl: given.publicUrl ?? apiUrl,
    sandboxUrl: local(ports.sandbox),
    inboxUrl: local(ports.inbox),
  }
}

export type EnvironmentParts = { addresses: Addresses; ports: Ports; secrets: Secrets; dataFolder: string }

export type Environments = { api: Environment; worker: Environment; sandbox: Environment; inbox: Environment }

export function createEnvironments({ addresses, ports, secrets, dataFolder }: EnvironmentParts): Environments {
  const drivers = readDrivers(process.env)
  const account = (provider: ProviderName, secret: string) =>
    accountVariables(provider, createAccount(drivers[provider] ?? 'simulator', secret))
  const accounts = [
    account('wallet_app', secrets.walletApp),
    account('card_partner', secrets.cardPartner),
    account('local_partner', secrets.localPartner),
  ]
  const calls: Environment = Object.assign({}, ...accounts.map((each) => each.calls))
  const callbacks: Environment = Object.assign({}, ...accounts.map((each) => each.callbacks))
  const common = {
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    PUBLIC_URL: addresses.publicUrl,
    API_KEY_PEPPER: secrets.apiKeyPepper,
    WEBHOOK_ENCRYPTION_KEY: secrets.webhookEncryptionKey,
    WEBHOOK_TEST_TARGETS: `127.0.0.1:${ports.inbox},localhost:${ports.inbox}`,
    CHAIN_ID: String(DEVELOPMENT_CHAIN_ID),
    USDC_ADDRESS,
    CRYPTO_DEPOSITS: 'true',
    WALLET_APP_URL: `${addresses.sandboxUrl}/wallet-app`,
    CARD_PARTNER_URL: `${addresses.sandboxUrl}/card-partner`,
    LOCAL_PARTNER_URL: `${addresses.sandboxUrl}/local-partner`,
    CONVERTER_URL: `${addresses.sandboxUrl}/converter`,
    CONVERTER_SECRET: secrets.converter,
  }
  return {
    // Load tests run locally, with one account. Ctrl-C does not wait for a buyer.
    api: {
      ...common,
      ...callbacks,
      API_PORT: String(ports.api),
      API_REQUESTS_PER_SECOND: '100000',
      API_DRAIN_MS: '2000',
      DEMO_SIGN_IN: DEMO_EMAIL,
      INBOX_URL: addresses.inboxUrl,
      SIMULATED_WALLET_URL: `${addresses.sandboxUrl}/usdc-wallet`,
    },
    worker: {
      ...common,
      ...calls,
      POLYGON_RPC_URLS: addresses.workerRpcUrls,
      // Ctrl-C ends everything within three seconds; what is cut off is tried again at the next start.
      WORKER_SHUTDOWN_GRACE_MS: '800',
      // The first top-up of the treasury is part of the books too.
      SETTLEMENT_START_BLOCK: '0',
      TREASURY_KEY: secrets.treasuryKey,
      RELAYER_KEYS: secrets.relayerKeys.join(','),
      RECEIPT_KEY: secrets.receiptKey,
      DEPOSIT_SEED: secrets.depositSeed,
      SMTP_URL: `smtp://127.0.0.1:${ports.mail}`,
    },
    sandbox: {
      ...calls,
      ...callbacks,
      CONVERTER_SECRET: secrets.converter,
      USDC_ADDRESS,
      SANDBOX_PORT: String(ports.sandbox),
      SANDBOX_PUBLIC_URL: addresses.sandboxUrl,
      SANDBOX_DATA: `${dataFolder}/sandbox`,
      SANDBOX_CALLBACK_URL: addresses.apiUrl,
      SANDBOX_RPC_URL: addresses.rpcUrl,
      SANDBOX_TREASURY: deriveAddress(secrets.treasuryKey),
    },
    inbox: {
      INBOX_PORT: String(ports.inbox),
      INBOX_SMTP_PORT: String(ports.mail),
      INBOX_DATA: `${dataFolder}/inbox`,
      INBOX_WEBHOOK_SECRET: secrets.webhookSecret,
    },
  }
}

/** Variables that `npm start` reads for the whole system, so no process gets the caller's value directly. */
const READ_BY_START = ['DATABASE_URL', 'POLYGON_RPC_URLS', 'PUBLIC_URL', 'PINRAIL_DATA']
/** Variables that the start decides. It does not use the caller's values, and reports that. */
const DECIDED = [
  'API_PORT',
  'SANDBOX_PORT',
  'INBOX_PORT',
  'INBOX_SMTP_PORT',
  'SANDBOX_PUBLIC_URL',
  'SANDBOX_DATA',
  'SANDBOX_CALLBACK_URL',
  'INBOX_DATA',
]

export const unusedVariables = (env: NodeJS.ProcessEnv): string[] => DECIDED.filter((name) => env[name])

const TARGETS = 'WEBHOOK_TEST_TARGETS'

/** Returns a process's variables, overridden by the caller's. The caller's webhook targets are added. */
export function withCallersVariables(ours: Environment, env: NodeJS.ProcessEnv): Environment {
  const theirs = callersVariables(env)
  const targets = [ours[TARGETS], theirs[TARGETS]].filter((list) => list !== undefined)
  return { ...ours, ...theirs, ...(targets.length > 0 && { [TARGETS]: targets.join(',') }) }
}

/** Returns variables of the system that the caller has set (LOG_LEVEL, SETTLEMENT_TICK_MS, …). */
function callersVariables(env: NodeJS.ProcessEnv): Environment {
  // The credentials of another server are not for this one.
  const isForUs = (name: string): boolean =>
    isTemporalVariable(name)
      ? namesTemporal(env)
      : KNOWN_VARIABLES.has(name) && ![...READ_BY_START, ...DECIDED].includes(name)
  const set = Object.entries(env).filter(([name, value]) => isForUs(name) && value)
  return Object.fromEntries(set) as Environment
}

export function deriveAddress(privateKey: string): string {
  return privateKeyToAddress(privateKey as `0x${string}`)
}
