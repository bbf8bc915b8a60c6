import { z } from 'zod'
import type { Hex } from '../domain/hex.ts'
import { readTreasuries } from '../domain/settlement/treasuries.ts'
import { agreementShape, signUpShape } from './agreement.ts'
import { databaseShape, migrationShape } from './database.ts'
import { flag, secret } from './fields.ts'
import { converterShape, refillCallbackShape, refillShape } from './float.ts'
import { codecKeys, codecToken, retiredShape } from './keys.ts'
import type { Problem } from './live.ts'
import { MISTAKEN_TOKENS } from './mistaken-tokens.ts'
import { callbacksShape, callsShape, simulatorsShape } from './partners.ts'
import { mailboxShape, mailShape, origin, peopleShape } from './people.ts'
import { platformShape } from './platform.ts'
import { ConfigurationError, type Environment, findProblems, read, withFiles } from './read.ts'
import { Secret } from './secret.ts'
import { readTemporal, type TemporalSettings, temporalShape, temporalWorkerShape } from './temporal.ts'
import { tracesShape } from './traces.ts'

/**
 * The only reader of the environment. Every variable that the system knows is in one of the schemas below, so that a
 * misspelled one in docker-compose.yml fails a test and a missing one fails the start with its name. `config/live.ts`
 * lists what live mode refuses.
 */

const url = z.url()
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const treasuries = list.transform((entries, context) => {
  const read = readTreasuries(entries)
  if (typeof read !== 'string') return read
  context.addIssue(read)
  return z.NEVER
})
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
const port = z.coerce.number().int().min(0).max(65535)

/** Variables of both api and worker. */
const commonSchema = z.object({
  PINRAIL_MODE: z.enum(['test', 'live']).default('test'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  ...databaseShape,
  /** Address at which operators read health and metrics. It must not be public. Nothing is served without a port. */
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  INTERNAL_PORT: port.optional(),
  ...temporalShape,
  /**
   * `<id>:<32 bytes in base64>`, comma separated. The first key encrypts every payload (AES-256-GCM); all keys decrypt.
   * If set, plaintext is refused. Live mode requires it.
   */
  TEMPORAL_CODEC_KEYS: codecKeys.optional(),
  /** URL at which buyers, merchants and partners reach the api: the base of checkout and callback URLs. */
  PUBLIC_URL: origin.default('http://localhost:4242'),
  /** Key of the HMAC over API keys. */
  API_KEY_PEPPER: secret,
  /** 32 bytes in base64: encrypts webhook secrets at rest. */
  WEBHOOK_ENCRYPTION_KEY: secret,
  ...retiredShape,
  /** Exact `host:port` pairs that webhooks may reach in test mode although they are private. Refused in live mode. */
  WEBHOOK_TEST_TARGETS: list.default([]),
  /**
   * Whole percent of the asked amount that may be missing before a payment counts as underpaid. A payment stores both
   * tolerances.
   */
  UNDERPAYMENT_TOLERANCE_PERCENT: z.coerce.number().int().min(0).max(5).default(1),
  /**
   * Whole percent that the converter's fill may differ from the locked rate; a larger difference waits for an operator.
   */
  CONVERSION_TOLERANCE_PERCENT: z.coerce.number().int().min(0).max(20).default(2),
  /** Offers USDC to buyers as a method. The worker then needs DEPOSIT_SEED. */
  CRYPTO_DEPOSITS: flag.default(false),
  CHAIN_ID: z.coerce.number().int().positive().default(137),
  USDC_ADDRESS: address.default('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
  ...converterShape,
  /** The source of rates. The simulator also converts. */
  CONVERTER_URL: url,
  CONVERTER_SECRET: secret,
  ...platformShape,
  ...tracesShape,
})

const apiSchema = commonSchema.extend({
  ...callbacksShape,
  /** `localhost` is both addresses of this machine, 127.0.0.1 and ::1. */
  API_HOST: z.string().default('localhost'),
  API_PORT: port.default(4242),
  /** Number of proxies in front: that many entries of X-Forwarded-For are trusted. */
  TRUST_PROXY_HOPS: z.coerce.number().int().min(0).max(5).default(0),
  /** Adds `includeSubDomains` to the header that binds browsers to https. */
  HSTS_INCLUDE_SUBDOMAINS: flag.default(false),
  ...peopleShape,
  ...agreementShape,
  ...signUpShape,
  /** Milliseconds that requests in progress have to finish after SIGTERM. A buyer's click waits for up to 30 s. */
  API_DRAIN_MS: z.coerce.number().int().min(0).default(35_000),
  /** `<provider>:<name on its page>:<what a statement shows>` for each partner; live mode requires it. */
  PARTNER_NAMES: list.optional(),
  ...refillCallbackShape,
})

const workerSchema = commonSchema.extend({
  ...callsShape,
  POLYGON_RPC_URLS: list.pipe(z.array(url.transform((value) => new Secret(value))).min(1)),
  /** Number of nodes that must agree: more than half of them. Live mode refuses less than 2. */
  FINALITY_QUORUM: z.coerce.number().int().min(1).max(5).default(1),
  /**
   * Key of the treasury (owns USDC, signs typed data only): `keystore:<path>`, `aws-kms:<key id>`, `gcp-kms:<resource
   * name of the key version>`, or, for development, the private key itself.
   */
  TREASURY_KEY: secret,
  /** Keys of the other treasuries, in the same forms, comma separated: each pays and cancels what is queued on it. */
  RETIRED_TREASURY_KEYS: secret.optional(),
  /**
   * `0x…,0x…@2026-12-01T00:00:00Z`: every treasury, in the order of their dates. Each pays the payments that are made
   * from its date until the next one's. Entries are appended, never changed. Without it, the treasury of TREASURY_KEY
   * is the only one.
   */
  TREASURIES: treasuries.optional(),
  /** Keys of the relayer lanes (they own gas money only), in the same forms, comma separated. */
  RELAYER_KEYS: secret,
  /** Key of a wallet that tops up the relayers with POL, in the same forms. Without it, an operator must top them up. */
  GAS_FUNDING_KEY: secret.optional(),
  /** Whole POL for each top-up of a relayer; more if the current gas price requires it. */
  GAS_TOPUP_POL: z.coerce.number().int().min(1).max(1000).default(20),
  /** Maximum whole POL for one relayer within 24 hours. A full batch of 100 payouts costs about 0.3 POL. */
  GAS_TOPUP_MAX_POL_PER_DAY: z.coerce.number().int().min(1).max(100_000).default(200),
  /** Password of the encrypted keystores (version 3) among the keys above. */
  KEYSTORE_PASSWORD: secret.optional(),
  /** Ed25519 key that signs receipts: 32 random bytes in base64. It can be replaced at any time. */
  RECEIPT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64')
    .transform((value) => new Secret(value)),
  /**
   * At least 32 random bytes in base64; the keys of all deposit addresses derive from it. As secret as a treasury's
   * key. Never remove it, even with CRYPTO_DEPOSITS off: money that arrives later could not be moved.
   */
  DEPOSIT_SEED: secret.optional(),
  /** Earlier seeds, comma separated. Never remove them. */
  RETIRED_DEPOSIT_SEEDS: secret.optional(),
  /**
   * Days after a payment's expiry for which its deposit address is compared at each final block; after that, once a
   * day.
   */
  DEPOSIT_WATCH_DAYS: z.coerce.number().int().min(4).max(365).default(30),
  /** Addresses of tokens that do not pay a payment. If they arrive at a deposit address, an operator is notified. */
  DEPOSIT_WRONG_TOKENS: list.pipe(z.array(address)).default(MISTAKEN_TOKENS),
  /** EIP-712 name of the token, compared with the contract at start: "USD Coin" on Polygon, "USDC" on Amoy. */
  USDC_DOMAIN_NAME: z.string().default('USD Coin'),
  /** Maximum whole USDC that each treasury authorizes within 24 hours. */
  PAYOUT_MAX_USDC_PER_DAY: z.coerce.number().int().positive().default(2_000_000),
  /** Maximum single payout that is signed, in whole USDC. */
  PAYOUT_MAX_USDC: z.coerce.number().int().positive().default(25_000),
  MAX_FEE_GWEI: z.coerce.number().int().min(30).max(100_000).default(500),
  /** First block whose logs are read if there is no cursor yet. Default: the finalized block of the first start. */
  SETTLEMENT_START_BLOCK: z.coerce.number().int().min(0).optional(),
  /** Milliseconds between two rounds of the settlement engine. */
  SETTLEMENT_TICK_MS: z.coerce.number().int().min(20).max(60_000).default(500),
  /** Days for which the bytes of a final transaction are stored. Logs, proofs and receipts are stored forever. */
  SETTLEMENT_BYTES_DAYS: z.coerce.number().int().min(1).max(365).default(7),
  /** Milliseconds between two rounds of the relay. */
  RELAY_TICK_MS: z.coerce.number().int().min(50).max(60_000).default(1000),
  /** `<host>:<port>` at which Temporal's SDK serves its own metrics. */
  WORKER_SDK_METRICS: z
    .string()
    .regex(/^[\w.-]+:\d+$/, 'must be <host>:<port>')
    .optional(),
  ...refillShape,
  ...mailShape,
  ...temporalWorkerShape,
})

/** The codec server, with which operators read payloads in Temporal's UI and send them with its CLI. */
const codecSchema = z.object({
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  LOG_LEVEL: commonSchema.shape.LOG_LEVEL,
  TEMPORAL_CODEC_KEYS: codecKeys,
  CODEC_HOST: z.string().default('127.0.0.1'),
  CODEC_PORT: port.default(8234),
  /** The holder of this token can read every payload. */
  CODEC_SERVER_TOKEN: codecToken,
  /** Origins of Temporal's UI, comma separated. */
  CODEC_ALLOWED_ORIGINS: list.pipe(z.array(url)).default(['http://127.0.0.1:8233']),
})

/** The partner simulators and the converter's simulator: one process, one port, a journal on disk. */
const sandboxSchema = z.object({
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  LOG_LEVEL: commonSchema.shape.LOG_LEVEL,
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_PORT: port.default(4300),
  SANDBOX_PUBLIC_URL: url.default('http://127.0.0.1:4300'),
  SANDBOX_DATA: z.string().min(1),
  /** Base URL of callbacks: `<url>/callbacks/<provider>`. */
  SANDBOX_CALLBACK_URL: url,
  /** Each provider's simulator speaks the protocol of its driver, and signs callbacks with the first secret. */
  ...simulatorsShape,
  CONVERTER_SECRET: secret,
  /** The converter buys USDC for the treasury: on the development chain it mints it with the USDC contract's minter. */
  SANDBOX_RPC_URL: url.optional(),
  SANDBOX_TREASURY: address.optional(),
  /** Private key of a wallet on a test network that has USDC and gas money: the converter transfers from it instead. */
  SANDBOX_FAUCET_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
    .transform((value) => new Secret(value))
    .optional(),
  USDC_ADDRESS: commonSchema.shape.USDC_ADDRESS,
})

/** The merchant's inbox of `npm start`: receives, verifies and stores webhooks. */
const inboxSchema = z.object({
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  LOG_LEVEL: commonSchema.shape.LOG_LEVEL,
  INBOX_HOST: z.string().default('127.0.0.1'),
  INBOX_PORT: port.default(4301),
  INBOX_DATA: z.string().min(1),
  /** The endpoint's `whsec_…`; several, comma separated, while a secret is being rotated. */
  INBOX_WEBHOOK_SECRET: secret.optional(),
  ...mailboxShape,
})

const lowerAddress = address.transform((value) => value.toLowerCase() as Hex)

const operatorSchema = z.object({
  DATABASE_URL: url,
  DATABASE_POOLER: commonSchema.shape.DATABASE_POOLER.unwrap().optional(),
  POLYGON_RPC_URLS: workerSchema.shape.POLYGON_RPC_URLS,
  FINALITY_QUORUM: workerSchema.shape.FINALITY_QUORUM,
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  PUBLIC_URL: origin,
  CHAIN_ID: z.coerce.number().int().positive(),
  USDC_ADDRESS: lowerAddress,
  SETTLEMENT_START_BLOCK: z.coerce.number().int().min(0).default(0),
  PAYOUT_MAX_USDC: workerSchema.shape.PAYOUT_MAX_USDC,
  PAYOUT_MAX_USDC_PER_DAY: workerSchema.shape.PAYOUT_MAX_USDC_PER_DAY,
  CONVERSION_TOLERANCE_PERCENT: commonSchema.shape.CONVERSION_TOLERANCE_PERCENT,
  ...converterShape,
  /** The same list as the worker's. Treasuries that are already in the database may be omitted. */
  TREASURIES: treasuries.default([]),
  DEPOSIT_WRONG_TOKENS: list.default(MISTAKEN_TOKENS).pipe(z.array(lowerAddress)),
})

/**
 * Variables of the commands about accounts, payments and webhooks. Secrets are optional: only some commands need them.
 */
const commandSchema = z.object({
  ...temporalShape,
  PINRAIL_MODE: commonSchema.shape.PINRAIL_MODE,
  DATABASE_URL: url,
  DATABASE_POOLER: commonSchema.shape.DATABASE_POOLER,
  PUBLIC_URL: commonSchema.shape.PUBLIC_URL,
  TEMPORAL_CODEC_KEYS: commonSchema.shape.TEMPORAL_CODEC_KEYS,
  ...agreementShape,
  PLATFORM_NAME: commonSchema.shape.PLATFORM_NAME,
  API_KEY_PEPPER: secret.optional(),
  WEBHOOK_ENCRYPTION_KEY: secret.optional(),
  RETIRED_API_KEY_PEPPERS: secret.optional(),
  RETIRED_WEBHOOK_ENCRYPTION_KEYS: secret.optional(),
  ...converterShape,
  CHAIN_ID: commonSchema.shape.CHAIN_ID,
  USDC_ADDRESS: commonSchema.shape.USDC_ADDRESS.transform((value) => value.toLowerCase() as Hex),
  POLYGON_RPC_URLS: workerSchema.shape.POLYGON_RPC_URLS.optional(),
  FINALITY_QUORUM: workerSchema.shape.FINALITY_QUORUM.unwrap().optional(),
})

const migrationSchema = z.object(migrationShape)

/** Variables that only the scripts and tests read. */
const scriptsSchema = z.object({
  PINRAIL_DATA: z.string().default('.data'),
  CHROMIUM: z.string().optional(),
})

type WithTemporal<T> = T & { readonly temporal: TemporalSettings }
export type Config = WithTemporal<z.infer<typeof commonSchema>>
export type ApiConfig = WithTemporal<z.infer<typeof apiSchema>>
export type WorkerConfig = WithTemporal<z.infer<typeof workerSchema>>
export type CodecConfig = z.infer<typeof codecSchema>
export type SandboxConfig = z.infer<typeof sandboxSchema>
export type InboxConfig = z.infer<typeof inboxSchema>
export type OperatorConfig = z.infer<typeof operatorSchema>
export type CommandConfig = WithTemporal<z.infer<typeof commandSchema>>

/** Names of every variable the system knows, for the test of docker-compose.yml. */
const SCHEMAS = [apiSchema, workerSchema, codecSchema, sandboxSchema, inboxSchema, operatorSchema, migrationSchema]
export const KNOWN_VARIABLES: ReadonlySet<string> = new Set(
  [...SCHEMAS, scriptsSchema].flatMap((schema) => Object.keys(schema.shape)),
)

const readWithTemporal = <T extends z.ZodObject>(schema: T, env: Environment): WithTemporal<z.infer<T>> => ({
  ...read(schema, env),
  temporal: readTemporal(withFiles(schema, env).present),
})
export const readApiConfig = (env: Environment = process.env): ApiConfig => readWithTemporal(apiSchema, env)
export const readWorkerConfig = (env: Environment = process.env): WorkerConfig => readWithTemporal(workerSchema, env)
export const readCodecConfig = (env: Environment = process.env): CodecConfig => read(codecSchema, env)
export const readSandboxConfig = (env: Environment = process.env): SandboxConfig =>
  read(sandboxSchema, refuseLiveMode(env))
export const readInboxConfig = (env: Environment = process.env): InboxConfig => read(inboxSchema, refuseLiveMode(env))
export const readOperatorConfig = (env: Environment = process.env): OperatorConfig => read(operatorSchema, env)
export const readCommandConfig = (env: Environment = process.env): CommandConfig => readWithTemporal(commandSchema, env)
export function readMigrationUrl(env: Environment = process.env): string {
  const { MIGRATION_DATABASE_URL } = read(migrationSchema, env)
  return MIGRATION_DATABASE_URL ?? read(operatorSchema.pick({ DATABASE_URL: true }), env).DATABASE_URL
}

export const ENVIRONMENT: Environment = process.env

/** Includes the variables of the migration and of the codec server, if they are set. */
const preflightSchema = apiSchema
  .extend(workerSchema.shape)
  .extend({ ...migrationShape, CODEC_SERVER_TOKEN: codecSchema.shape.CODEC_SERVER_TOKEN.optional() })

/** Returns everything that keeps api and worker from starting in live mode; an empty list if they start. */
export function preflightProblems(env: Environment = process.env): Problem[] {
  const mode = env['PINRAIL_MODE'] === 'live' ? [] : [{ name: 'PINRAIL_MODE', must: 'must be live' }]
  return [...mode, ...findProblems(preflightSchema, { ...env, PINRAIL_MODE: 'live' })]
}

/** Throws in live mode: a live system has no simulators. */
function refuseLiveMode(env: Environment): Environment {
  if (env['PINRAIL_MODE'] !== 'live') return env
  throw new ConfigurationError([{ name: 'PINRAIL_MODE', must: 'must be test: this process is a simulator' }])
}
