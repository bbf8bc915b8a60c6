import type { ConnectionOptions } from 'node:tls'
import ipaddr from 'ipaddr.js'
import pg from 'pg'
import { PROVIDER_NAMES } from '../domain/methods.ts'
import { DRIVERS } from '../domain/partner/drivers.ts'
import { developmentSecret, isRegular } from './development.ts'
import { missingNames } from './partner-names.ts'
import { Secret, splitSecrets } from './secret.ts'

/** A variable and its requirement, in words for the operator who corrects it. */
export type Problem = { readonly name: string; readonly must: string }

/**
 * Settings that the schemas of the environment read. A variable that a process does not have, or that is wrong, is
 * absent.
 */
export type Settings = Readonly<Record<string, unknown>>

/** Polygon's main network, and the USDC that Circle issues there (https://developers.circle.com/stablecoins). */
const POLYGON = 137
const POLYGON_USDC = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'

/** The first database passwords that attackers try. */
const COMMON_PASSWORDS = new Set(['postgres', 'password', 'pinrail', 'admin', 'secret', 'changeme', 'root', 'test'])

type Rule = (settings: Settings) => Problem[]

/**
 * Returns each setting that is public, weak, local or made for development. Live mode starts only if the list is empty.
 * `env`: the variables that are set, known or not.
 */
export function liveProblems(settings: Settings, env: Readonly<Record<string, string | undefined>>): Problem[] {
  return [...RULES.flatMap((rule) => rule(settings)), ...findForbidden(env)]
}

const text = (value: unknown): string => (value instanceof Secret ? value.reveal() : String(value))
const problem = (name: string, must: string): Problem[] => [{ name, must }]

/** Creates a rule about one variable. The rule is skipped if the variable is absent. */
function ruleFor(name: string, check: (value: string, settings: Settings) => string | null): Rule {
  return (settings) => {
    if (settings[name] === undefined) return []
    const must = check(text(settings[name]), settings)
    return must === null ? [] : problem(name, must)
  }
}

const noDevelopmentSecrets: Rule = (settings) =>
  Object.entries(settings).flatMap(([name, value]) => {
    const why = value instanceof Secret ? developmentSecret(value.reveal()) : null
    return why === null ? [] : problem(name, `must not be ${why}`)
  })

const publicUrl = (value: string): string | null => {
  const { protocol, hostname } = new URL(value)
  if (protocol !== 'https:') return 'must begin with https://'
  return isLocal(hostname) ? `must not be on a local host, as ${hostname} is` : null
}

/** Returns true for loopback, private and reserved addresses, and names that only one machine or one network knows. */
function isLocal(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() !== 'unicast'
  return !host.includes('.') || /\.(?:localhost|local|test|invalid)$/i.test(host)
}

/** A node on this machine is a development chain. A node in a private network is accepted. */
const isLoopback = (hostname: string): boolean =>
  /(?:^|\.)localhost\.?$/i.test(hostname) || /^(?:127\.|0\.0\.0\.0$|\[::1?\]$|\[::ffff:7f)/i.test(hostname)

const nodes: Rule = ({ POLYGON_RPC_URLS: urls, FINALITY_QUORUM: quorum }) => {
  const found: Problem[] = []
  if (typeof quorum === 'number' && quorum < 2) found.push(...problem('FINALITY_QUORUM', 'must be at least 2'))
  if (!Array.isArray(urls)) return found
  const hosts = new Set(urls.map((url) => new URL(text(url)).hostname.toLowerCase().replace(/\.$/, '')))
  const least = Math.max(2, typeof quorum === 'number' ? quorum : 2)
  if (hosts.size < least)
    found.push(...problem('POLYGON_RPC_URLS', `must name nodes on at least ${least} hosts, and names ${hosts.size}`))
  else if (hosts.size < urls.length)
    found.push(...problem('POLYGON_RPC_URLS', 'must name each host once: two nodes on one host count as one'))
  // With half of the nodes or fewer, two groups of nodes could agree on two chains.
  const majority = Math.floor(urls.length / 2) + 1
  if (typeof quorum === 'number' && quorum >= 2 && quorum < majority)
    found.push(
      ...problem('FINALITY_QUORUM', `must be more than half of the ${urls.length} nodes: at least ${majority}`),
    )
  if (urls.some((url) => new URL(text(url)).protocol !== 'https:'))
    found.push(
      ...problem(
        'POLYGON_RPC_URLS',
        'must begin with https://: without TLS, a node’s answers could be changed in transit',
      ),
    )
  const local = [...hosts].filter(isLoopback)
  if (local.length > 0) found.push(...problem('POLYGON_RPC_URLS', `must not be on this machine: ${local.join(', ')}`))
  return found
}

const database = (value: string): string | null => {
  const { username, password, searchParams } = new URL(value)
  if (developmentSecret(value) !== null) return 'must not have a password made for development'
  // The driver also reads both from the query. Without a password, the server authenticates in another way: by a
  // certificate, a socket or a password file.
  const plain = [unescaped(password), ...searchParams.getAll('password')].filter((one) => one !== '')
  const users = [unescaped(username), ...searchParams.getAll('user')]
  if (plain.some((one) => users.includes(one) || isCommon(one)))
    return 'must have a password of at least 12 characters that is not easy to guess'
  return verifiesServer(value) ? null : 'must have sslmode=verify-full, unless the database is on this machine'
}

/**
 * Returns true if the driver, as it reads the URL and PGSSLMODE, verifies the server. A database on this machine needs
 * no verification.
 */
function verifiesServer(connectionString: string): boolean {
  try {
    const { host, ssl } = new pg.Client({ connectionString }) as unknown as Connection
    if (host.startsWith('/') || isLoopback(host.includes(':') ? `[${host}]` : host)) return true
    if (typeof ssl === 'boolean') return ssl
    return ssl.rejectUnauthorized !== false && ssl.checkServerIdentity === undefined
  } catch {
    // The certificate cannot be read, or the settings contradict each other.
    return false
  }
}

type Connection = { readonly host: string; readonly ssl: boolean | ConnectionOptions }

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The text has a percent sign and is not escaped.
    return text
  }
}

/** Ignores digits and signs: attackers try `Password12345678` as early as `password`. */
const isCommonWord = (password: string): boolean => COMMON_PASSWORDS.has(password.toLowerCase().replace(/[^a-z]/g, ''))

const isCommon = (password: string): boolean => isCommonWord(password) || password.length < 12

const strongText = (value: string): string | null =>
  value.length < 32 || new Set(value).size < 10
    ? 'must be at least 32 random characters: openssl rand -base64 32'
    : null

/** For a secret that a partner gives, or that a person types. */
const hardToGuess = (value: string): string | null => {
  if (isCommonWord(value)) return 'must not be a common word, not even with digits'
  return value.length < 16 || new Set(value).size < 8 ? 'must have at least 16 characters, 8 of them different' : null
}

/** Bytes of a key in base64; a deposit seed may have more. */
const KEY_BYTES = 32

const strongBytes = (value: string): string | null => {
  const bytes = Buffer.from(value, 'base64')
  if (bytes.length < KEY_BYTES) return 'must have at least 32 bytes in base64: openssl rand -base64 32'
  return isRegular(bytes) ? 'must be random: openssl rand -base64 32' : null
}

const strongKey = (value: string): string | null =>
  Buffer.from(value, 'base64').length > KEY_BYTES ? 'must be 32 bytes in base64' : strongBytes(value)

const each =
  (why: (value: string) => string | null) =>
  (list: string): string | null =>
    list
      .split(',')
      .map((value) => why(value.trim()))
      .find((problem) => problem !== null) ?? null

const codecKeys = (value: string): string | null => {
  const keys = value.split(',').map((key) => Buffer.from(key.slice(key.indexOf(':') + 1), 'base64'))
  return keys.some(isRegular) ? 'must have random keys: openssl rand -base64 32' : null
}

const privateKeys = (value: string): string | null => {
  const raw = value.split(',').flatMap((key) => /^\s*0x([0-9a-f]{64})\s*$/i.exec(key)?.[1] ?? [])
  return raw.some((key) => isRegular(Buffer.from(key, 'hex'))) ? 'must be random keys' : null
}

/** A reader of the environment must not get the treasury: its key is in a keystore with a password, or in a key service. */
const noRawKeys = (value: string): string | null =>
  value.split(',').some((key) => /^\s*(?:0x)?[0-9a-f]{64}\s*$/i.test(key))
    ? 'must be keystore:<path>, aws-kms:<key id> or gcp-kms:<key version>, not the private key itself'
    : null

/** Returns base64 in one spelling, with padding. A codec key's id is not part of the key. */
function normalizeSecret(secret: string): string {
  const key = secret.replace(/^[\w.-]{1,64}:(?=[A-Za-z0-9+/]{43}=$)/, '')
  return /^[\w+/-]+={0,2}$/.test(key) ? Buffer.from(key, 'base64').toString('base64') : key
}

/** Preflight compares these by the wallets that they open. */
const WALLET_KEYS = new Set(['TREASURY_KEY', 'RETIRED_TREASURY_KEYS', 'RELAYER_KEYS', 'GAS_FUNDING_KEY'])

/** Cashfree signs callbacks with the secret of the calls. */
const isSignedByCashfree = (name: string, other: string, settings: Settings): boolean =>
  settings['PROVIDER_LOCAL_PARTNER'] === 'cashfree' &&
  [name, other].toSorted().join() === 'LOCAL_PARTNER_SECRET,LOCAL_PARTNER_WEBHOOK_SECRETS'

/** Two equal secrets leak together. */
const noSharedSecrets: Rule = (settings) => {
  const first = new Map<string, string>()
  return Object.entries(settings).flatMap(([name, value]) => {
    const secrets =
      value instanceof Secret && !WALLET_KEYS.has(name) ? new Set(splitSecrets(value).map(normalizeSecret)) : []
    const others = [...secrets].flatMap((secret) => first.get(secret) ?? [])
    for (const secret of secrets) first.set(secret, first.get(secret) ?? name)
    return others
      .filter((other) => !isSignedByCashfree(name, other, settings))
      .slice(0, 1)
      .flatMap((other) => problem(name, `must not be the same as ${other}`))
  })
}

/** A simulator accepts play money, so anybody could pay with it. */
const noSimulators: Rule = (settings) =>
  PROVIDER_NAMES.flatMap((provider) => {
    const name = `PROVIDER_${provider.toUpperCase()}`
    if (settings[name] !== 'simulator') return []
    const real = DRIVERS[provider].filter((driver) => driver !== 'simulator')
    return problem(name, `must be the driver of a real partner, ${real.join(' or ')}: the simulator moves no money`)
  })

/** Each rule returns the ends of "NAME: …" for everything that is not as it must be. */
const RULES: readonly Rule[] = [
  noDevelopmentSecrets,
  noSharedSecrets,
  noSimulators,
  ...['WALLET_APP', 'CARD_PARTNER', 'LOCAL_PARTNER'].flatMap((at) => [
    ruleFor(`${at}_SECRET`, hardToGuess),
    ruleFor(`${at}_WEBHOOK_SECRETS`, each(hardToGuess)),
  ]),
  ruleFor('CONVERTER', (value) =>
    value === 'float' ? null : 'must be float: the simulator is not part of a live system',
  ),
  ruleFor('CONVERTER_SECRET', hardToGuess),
  // The sandbox returns the details of a bank account that does not exist, and an operator would send money to it.
  ruleFor('BRIDGE_API_KEY', (value) =>
    value.startsWith('sk-test') ? 'must be a key of production, not of the sandbox' : hardToGuess(value),
  ),
  ruleFor('BRIDGE_URL', publicUrl),
  ruleFor('KEYSTORE_PASSWORD', hardToGuess),
  ruleFor('TREASURY_KEY', noRawKeys),
  ruleFor('RETIRED_TREASURY_KEYS', noRawKeys),
  ruleFor('PUBLIC_URL', publicUrl),
  ruleFor('WALLET_APP_URL', publicUrl),
  ruleFor('CARD_PARTNER_URL', publicUrl),
  ruleFor('LOCAL_PARTNER_URL', publicUrl),
  ruleFor('CONVERTER_URL', publicUrl),
  ruleFor('DATABASE_URL', database),
  ruleFor('DATABASE_DIRECT_URL', database),
  ruleFor('DATABASE_READ_URL', database),
  ruleFor('MIGRATION_DATABASE_URL', database),
  ruleFor('API_KEY_PEPPER', strongText),
  ruleFor('CODEC_SERVER_TOKEN', strongText),
  ruleFor('WEBHOOK_ENCRYPTION_KEY', strongKey),
  ruleFor('RETIRED_WEBHOOK_ENCRYPTION_KEYS', each(strongKey)),
  ruleFor('RETIRED_API_KEY_PEPPERS', each(strongText)),
  ruleFor('DEPOSIT_SEED', strongBytes),
  ruleFor('RECEIPT_KEY', strongBytes),
  ruleFor('RETIRED_DEPOSIT_SEEDS', each(strongBytes)),
  ruleFor('TEMPORAL_CODEC_KEYS', codecKeys),
  ruleFor('TREASURY_KEY', privateKeys),
  ruleFor('RETIRED_TREASURY_KEYS', privateKeys),
  ruleFor('RELAYER_KEYS', privateKeys),
  ruleFor('GAS_FUNDING_KEY', privateKeys),
  ruleFor('CHAIN_ID', (value) => (Number(value) === POLYGON ? null : `must be ${POLYGON}, the id of Polygon`)),
  ruleFor('USDC_ADDRESS', (value) =>
    value.toLowerCase() === POLYGON_USDC ? null : `must be ${POLYGON_USDC}, the contract of USDC on Polygon`,
  ),
  nodes,
  (settings) =>
    Array.isArray(settings['WEBHOOK_TEST_TARGETS']) && settings['WEBHOOK_TEST_TARGETS'].length > 0
      ? problem('WEBHOOK_TEST_TARGETS', 'must be empty')
      : [],
  (settings) => {
    if (!('PARTNER_NAMES' in settings)) return []
    const names = settings['PARTNER_NAMES']
    const must = missingNames(Array.isArray(names) ? names.map(String) : [])
    return must === null ? [] : problem('PARTNER_NAMES', `${must}: buyers see them`)
  },
  ...['STATUS_PAGE_URL', 'PRIVACY_URL', 'TERMS_URL', 'SUPPORT_EMAIL'].map(
    (name): Rule =>
      (settings) =>
        name in settings && settings[name] === undefined ? problem(name, 'must be set: every page links to it') : [],
  ),
  // The api has no SMTP_URL: only the worker's schema requires it.
  (settings) =>
    'SMTP_URL' in settings && settings['SMTP_URL'] === undefined
      ? problem('SMTP_URL', 'must be set: without it nobody can sign in to the dashboard')
      : [],
  ruleFor('SMTP_URL', (value) =>
    value.startsWith('smtps://') && URL.canParse(value) && !isLoopback(new URL(value).hostname)
      ? null
      : 'must be smtps:// and a host that is not this machine: mails contain links that sign people in',
  ),
  ruleFor('MAIL_FROM', (value) =>
    isLocal(/@([^\s>@]+)>?\s*$/.exec(value)?.[1] ?? '') ? 'must be an address to which people can reply' : null,
  ),
  ruleFor('TELEGRAM_API_URL', publicUrl),
  ruleFor('STATUS_PAGE_URL', publicUrl),
  ruleFor('IMPRINT_URL', publicUrl),
  ruleFor('PRIVACY_URL', publicUrl),
  ruleFor('TERMS_URL', publicUrl),
  ruleFor('DEMO_SIGN_IN', () => 'must not be set: anybody could sign in without a link'),
  ruleFor('INBOX_URL', () => 'must not be set: it belongs to a system that runs on one machine'),
  ruleFor('SIMULATED_WALLET_URL', () => 'must not be set: it pays with play money'),
  (settings) =>
    'TEMPORAL_CODEC_KEYS' in settings && settings['TEMPORAL_CODEC_KEYS'] === undefined
      ? problem('TEMPORAL_CODEC_KEYS', 'must be set: without it Temporal stores payloads as plain text')
      : [],
]

/**
 * Options of Node that change its memory, its warnings or its stack traces. Others load code, weaken TLS or write keys
 * to files.
 */
const HARMLESS_OPTION =
  /^--(?:(?:max-old-space-size(?:-percentage)?|max-semi-space-size|stack-trace-limit|disable-warning|dns-result-order)=[\w-]+|enable-source-maps|no-deprecation|no-warnings|trace-warnings|trace-uncaught)$/

/** Returns the variables of the simulators, of Node and of the database driver that a live process must not have. */
function findForbidden(env: Readonly<Record<string, string | undefined>>): Problem[] {
  const simulators = Object.keys(env).filter((name) => /^(?:SANDBOX|INBOX)_/.test(name) && env[name])
  const { PGPASSWORD: password } = env
  const options = (env['NODE_OPTIONS'] ?? '').split(/\s+/).filter((option) => option !== '')
  // The message omits the value, which may be a secret. Node reads an underscore as a hyphen.
  const refused = options.filter((option) => !HARMLESS_OPTION.test(option.replaceAll('_', '-')))
  const names = refused.map((option) => option.replace(/=.*/, ''))
  const weak = password !== undefined && (developmentSecret(password) !== null || isCommon(password))
  return [
    ...simulators.map((name) => ({ name, must: 'must not be set: simulators are not part of a live system' })),
    ...(env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? problem('NODE_TLS_REJECT_UNAUTHORIZED', 'must not be 0: anybody could pose as a partner')
      : []),
    ...(env['NODE_DEBUG'] ? problem('NODE_DEBUG', 'must not be set: it writes keys and tokens to the log') : []),
    ...(names.length > 0
      ? problem('NODE_OPTIONS', `must have options for memory and warnings alone, not ${names.join(' ')}`)
      : []),
    ...(weak
      ? problem('PGPASSWORD', 'must be a password of at least 12 characters that is neither common nor for development')
      : []),
  ]
}
