import { z } from 'zod'
import type { Hex } from './domain/hex.ts'

/**
 * The only reader of the environment. Every variable the system knows is in one of the schemas below, so that a
 * misspelt one in docker-compose.yml fails a test and a missing one fails the start with its name.
 */

/** A value that must not be printed: logs, JSON and the inspector show `[secret]`; `reveal()` is the one way in. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '[secret]'
  }
  toJSON(): string {
    return '[secret]'
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value))
const url = z.url()
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
const port = z.coerce.number().int().min(0).max(65535)
const flag = z.enum(['true', 'false']).transform((value) => value === 'true')

/** Tokens that buyers send in place of USDC: bridged USDC, USDT and DAI on Polygon. */
const MISTAKEN_TOKENS = [
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
  '0xc2132d05d31c914a87c6611c10748aeb04b58e8f',
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
]

/** What api and worker share. */
const commonSchema = z.object({
  PINRAIL_MODE: z.enum(['test', 'live']).default('test'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: url,
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  /** 32 bytes in base64; when set, every payload is AES-256-GCM encrypted and plaintext is refused. */
  TEMPORAL_CODEC_KEY: secret.optional(),
  /** Where buyers and merchants reach the api; checkout URLs and callbacks are built on it. */
  PUBLIC_URL: url.default('http://127.0.0.1:4242'),
  /** Key of the HMAC over API keys. */
  API_KEY_PEPPER: secret,
  /** 32 bytes in base64: encrypts webhook secrets at rest. */
  WEBHOOK_ENCRYPTION_KEY: secret,
  /** Exact `host:port` pairs that webhooks may reach in test mode although they are private. Refused in live mode. */
  WEBHOOK_TEST_TARGETS: list.default([]),
  /** Whole percent of the asked amount that may be missing before a payment counts as underpaid. */
  UNDERPAYMENT_TOLERANCE_PERCENT: z.coerce.number().int().min(0).max(5).default(1),
  /** Offers buyers USDC as a way to pay. The worker then needs DEPOSIT_SEED. */
  CRYPTO_DEPOSITS: flag.default(false),
  CHAIN_ID: z.coerce.number().int().positive().default(137),
  USDC_ADDRESS: address.default('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
  WALLET_APP_URL: url,
  WALLET_APP_ACCOUNT: z.string().default('pinrail'),
  WALLET_APP_SECRET: secret,
  CARD_PARTNER_URL: url,
  CARD_PARTNER_ACCOUNT: z.string().default('pinrail'),
  CARD_PARTNER_SECRET: secret,
  LOCAL_PARTNER_URL: url,
  LOCAL_PARTNER_ACCOUNT: z.string().default('pinrail'),
  LOCAL_PARTNER_SECRET: secret,
  CONVERTER_URL: url,
  CONVERTER_SECRET: secret,
})

const apiSchema = commonSchema.extend({
  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: port.default(4242),
  /** How many proxies in front may be believed about the client's address. */
  TRUST_PROXY_HOPS: z.coerce.number().int().min(0).max(5).default(0),
  /** Requests that an account may make in each mode; more are answered with 429. Counted by each process. */
  API_REQUESTS_PER_SECOND: z.coerce.number().int().min(1).default(100),
  /** Requests with an invalid key that one address may make before it is told to wait. */
  API_REFUSALS_PER_MINUTE: z.coerce.number().int().min(1).default(60),
  /** Name of the header in which a trusted proxy puts the buyer's country (ISO 3166 alpha-2). */
  COUNTRY_HEADER: z.string().optional(),
})

const workerSchema = commonSchema.extend({
  POLYGON_RPC_URLS: list.pipe(z.array(url).min(1)),
  /** How many nodes must agree before a payout is settled or voided. Live mode refuses less than 2. */
  FINALITY_QUORUM: z.coerce.number().int().min(1).max(5).default(1),
  /**
   * Key of the treasury (holds USDC, signs typed data only): `keystore:<path>`, `aws-kms:<key id>`, `gcp-kms:<resource name
   * of the key version>`, or, for development, the private key itself.
   */
  TREASURY_KEY: secret,
  /**
   * Keys of treasuries before this one, in the same forms, comma separated: each pays what was queued on it and signs the
   * cancellations of it. Nothing new is queued on them.
   */
  RETIRED_TREASURY_KEYS: secret.optional(),
  /** Treasuries of the past whose keys are not here: their transfers are watched, and what they paid is not paid again. */
  RETIRED_TREASURIES: list.pipe(z.array(address)).default([]),
  /** Keys of the relayer lanes (hold gas money only), in the same forms, comma separated. */
  RELAYER_KEYS: secret,
  /** Key of a wallet with POL, in the same forms: it keeps the relayers in gas money. Without it that is done by hand. */
  GAS_FUNDING_KEY: secret.optional(),
  /** POL sent to a relayer at a time, more when that does not suffice at today's price. */
  GAS_TOPUP_POL: z.coerce.number().int().min(1).max(1000).default(20),
  /** POL for one relayer within 24 hours. A full batch of 100 payouts takes some 0.3 POL. */
  GAS_TOPUP_MAX_POL_PER_DAY: z.coerce.number().int().min(1).max(100_000).default(200),
  /** Password of the encrypted keystores (version 3) among them. */
  KEYSTORE_PASSWORD: secret.optional(),
  /**
   * At least 32 random bytes in base64, from which the keys of all deposit addresses are derived. As secret as a treasury's
   * key, and never changed: what comes to an address later could not be moved. Kept when CRYPTO_DEPOSITS is turned off.
   */
  DEPOSIT_SEED: secret.optional(),
  /** Transfers to a deposit address are looked for this long after its payment has expired. */
  DEPOSIT_WATCH_DAYS: z.coerce.number().int().min(4).max(365).default(30),
  /** Tokens that are noted when they come to a deposit address, although they pay nothing. */
  DEPOSIT_WRONG_TOKENS: list.pipe(z.array(address)).default(MISTAKEN_TOKENS),
  /** EIP-712 name of the token: "USD Coin" for Polygon's native USDC, "USDC" on Amoy. Compared with the contract at start. */
  USDC_DOMAIN_NAME: z.string().default('USD Coin'),
  /** No more than this many whole USDC are authorized within 24 hours, for each treasury. */
  PAYOUT_MAX_USDC_PER_DAY: z.coerce.number().int().positive().default(2_000_000),
  /** No single payout above this many whole USDC is signed. */
  PAYOUT_MAX_USDC: z.coerce.number().int().positive().default(25_000),
  MAX_FEE_GWEI: z.coerce.number().int().min(30).max(100_000).default(500),
  /** First block whose logs are read when there is no cursor yet; absent: the finalized block of the first start. */
  SETTLEMENT_START_BLOCK: z.coerce.number().int().min(0).optional(),
  /** Time between two rounds of the settlement engine, in milliseconds. */
  SETTLEMENT_TICK_MS: z.coerce.number().int().min(20).max(60_000).default(500),
  /** Time between two rounds of the relay, in milliseconds. */
  RELAY_TICK_MS: z.coerce.number().int().min(50).max(60_000).default(1000),
  WORKER_MAX_CACHED_WORKFLOWS: z.coerce.number().int().min(0).default(1000),
  /** How long running activities may finish after SIGTERM; what does not is tried again by another worker. */
  WORKER_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(0).default(25_000),
  WORKER_STICKY_TIMEOUT_MS: z.coerce.number().int().min(100).default(5000),
  WORKER_BUILD_ID: z.string().optional(),
  WORKER_VERSIONING: flag.default(false),
})

/** The partner simulators and the converter's simulator: one process, one port, a journal on disk. */
const sandboxSchema = z.object({
  LOG_LEVEL: commonSchema.shape.LOG_LEVEL,
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_PORT: port.default(4300),
  SANDBOX_PUBLIC_URL: url.default('http://127.0.0.1:4300'),
  SANDBOX_DATA: z.string().min(1),
  /** Where callbacks go: `<url>/callbacks/<provider>`. */
  SANDBOX_CALLBACK_URL: url,
  WALLET_APP_ACCOUNT: commonSchema.shape.WALLET_APP_ACCOUNT,
  WALLET_APP_SECRET: secret,
  CARD_PARTNER_ACCOUNT: commonSchema.shape.CARD_PARTNER_ACCOUNT,
  CARD_PARTNER_SECRET: secret,
  LOCAL_PARTNER_ACCOUNT: commonSchema.shape.LOCAL_PARTNER_ACCOUNT,
  LOCAL_PARTNER_SECRET: secret,
  CONVERTER_SECRET: secret,
  /** The converter buys USDC for the treasury: on the development chain it mints it with the USDC contract's minter. */
  SANDBOX_RPC_URL: url.optional(),
  SANDBOX_TREASURY: address.optional(),
  USDC_ADDRESS: commonSchema.shape.USDC_ADDRESS,
})

/** The merchant's inbox of `npm start`: receives webhooks, verifies and keeps them. */
const inboxSchema = z.object({
  LOG_LEVEL: commonSchema.shape.LOG_LEVEL,
  INBOX_HOST: z.string().default('127.0.0.1'),
  INBOX_PORT: port.default(4301),
  INBOX_DATA: z.string().min(1),
  /** The endpoint's `whsec_…`; several, comma separated, while a secret is being rotated. */
  INBOX_WEBHOOK_SECRET: secret.optional(),
})

const lowerAddress = address.transform((value) => value.toLowerCase() as Hex)

/** The operator's command: what it needs of the worker's variables. */
const operatorSchema = z.object({
  DATABASE_URL: url,
  POLYGON_RPC_URLS: workerSchema.shape.POLYGON_RPC_URLS,
  FINALITY_QUORUM: workerSchema.shape.FINALITY_QUORUM,
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  PUBLIC_URL: url,
  CHAIN_ID: z.coerce.number().int().positive(),
  USDC_ADDRESS: lowerAddress,
  SETTLEMENT_START_BLOCK: z.coerce.number().int().min(0).default(0),
  /** Every treasury there ever was; those that this database knows are added. */
  TREASURY_ADDRESSES: list.pipe(z.array(lowerAddress)).default([]),
  DEPOSIT_WRONG_TOKENS: list.default(MISTAKEN_TOKENS).pipe(z.array(lowerAddress)),
  RETIRED_TREASURIES: list.pipe(z.array(lowerAddress)).default([]),
})

/** `pinrail migrate` alone: the owner of the schema may be another user than the one that api and worker have. */
const migrationSchema = operatorSchema.pick({ DATABASE_URL: true })

/** Variables that only the scripts and tests read. */
const scriptsSchema = z.object({
  PINRAIL_DATA: z.string().default('.data'),
  CHROMIUM: z.string().optional(),
})

export type Config = z.infer<typeof commonSchema>
export type ApiConfig = z.infer<typeof apiSchema>
export type WorkerConfig = z.infer<typeof workerSchema>
export type SandboxConfig = z.infer<typeof sandboxSchema>
export type InboxConfig = z.infer<typeof inboxSchema>
export type OperatorConfig = z.infer<typeof operatorSchema>

/** Names of every variable the system knows, for the test of docker-compose.yml. */
export const KNOWN_VARIABLES: ReadonlySet<string> = new Set(
  [apiSchema, workerSchema, sandboxSchema, inboxSchema, operatorSchema, scriptsSchema].flatMap((schema) =>
    Object.keys(schema.shape),
  ),
)

/** Keys made for development carry this mark, so that live mode can refuse them. */
export const DEVELOPMENT_MARK = 'development-only'

/** Development keys: the well-known accounts of anvil's public test mnemonic. Never with real money. */
const PUBLIC_TEST_KEYS = new Set([
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
  '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
])

type Environment = Record<string, string | undefined>

export const readApiConfig = (env: Environment = process.env): ApiConfig => refuseUnsafe(read(apiSchema, env))
export const readWorkerConfig = (env: Environment = process.env): WorkerConfig => {
  const config = refuseUnsafe(read(workerSchema, env))
  if (config.CRYPTO_DEPOSITS && config.DEPOSIT_SEED === undefined) throw new Error('CRYPTO_DEPOSITS needs DEPOSIT_SEED')
  if (config.PINRAIL_MODE === 'live') refuseUnsafeSettlement(config)
  return config
}
export const readSandboxConfig = (env: Environment = process.env): SandboxConfig => read(sandboxSchema, env)
export const readInboxConfig = (env: Environment = process.env): InboxConfig => read(inboxSchema, env)
export const readOperatorConfig = (env: Environment): OperatorConfig => read(operatorSchema, env)
export const readMigrationUrl = (env: Environment): string => read(migrationSchema, env).DATABASE_URL

function read<T extends z.ZodType>(schema: T, env: Environment): z.infer<T> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`The configuration is not complete:\n${problems.join('\n')}`)
}

function refuseUnsafe<T extends Config>(config: T): T {
  if (config.PINRAIL_MODE === 'test') return config
  const marked = Object.entries(config).filter(
    ([, value]) => value instanceof Secret && value.reveal().includes(DEVELOPMENT_MARK),
  )
  const names = marked.map(([name]) => name)
  if (config.WEBHOOK_TEST_TARGETS.length > 0) names.push('WEBHOOK_TEST_TARGETS')
  if (names.length > 0) throw new Error(`Refused in live mode, because for development only: ${names.join(', ')}`)
  return config
}

function refuseUnsafeSettlement(config: WorkerConfig): void {
  if (config.FINALITY_QUORUM < 2 || config.POLYGON_RPC_URLS.length < config.FINALITY_QUORUM)
    throw new Error('Live mode needs FINALITY_QUORUM of at least 2 and as many POLYGON_RPC_URLS')
  for (const name of ['TREASURY_KEY', 'RETIRED_TREASURY_KEYS', 'RELAYER_KEYS', 'GAS_FUNDING_KEY'] as const) {
    const keys = config[name]?.reveal().split(',') ?? []
    if (keys.some((key) => PUBLIC_TEST_KEYS.has(key.trim().toLowerCase())))
      throw new Error(`${name} is a public test key: refused in live mode`)
  }
}
