import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { parse } from 'yaml'
import { generateSecrets } from '../../scripts/system/secrets.ts'
import { scryptKeystore } from '../../scripts/test/keystore.ts'
import { LIVE_ENVIRONMENT, LIVE_TREASURY_KEY } from '../../scripts/test/live-environment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import {
  preflightProblems,
  readApiConfig,
  readInboxConfig,
  readOperatorConfig,
  readSandboxConfig,
  readWorkerConfig,
} from '../../src/config/config.ts'
import { DEVELOPMENT_MARK } from '../../src/config/development.ts'
import { openKeys } from '../../src/deps/keys.ts'
import { runCommand } from '../../src/operator/command.ts'

const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

const random = randomBytes(32)
const PLAIN_DATABASE = LIVE_ENVIRONMENT.DATABASE_URL.replace(/\?.*/, '')

describe('Live mode', () => {
  /** The errors of live mode. Each case changes one variable of a valid system. */
  const problemsWith = (changes: Record<string, string | undefined>): string[] =>
    preflightProblems({ ...LIVE_ENVIRONMENT, ...changes }).map(({ name, must }) => `${name}: ${must}`)
  const hex = (value: string | Uint8Array): string => Buffer.from(value).toString('hex')
  const base64 = (value: string | Uint8Array): string => Buffer.from(value).toString('base64')
  const accountKey = (addressIndex: number, mnemonic = TEST_MNEMONIC): Uint8Array =>
    mnemonicToAccount(mnemonic, { addressIndex }).getHdKey().privateKey!

  test('api, worker and operator commands start if every setting is fit for live mode', () => {
    expect(problemsWith({})).toEqual([])
    expect(problemsWith({ NODE_OPTIONS: ' --max_old_space_size=512  --enable-source-maps' })).toEqual([])
    expect(readApiConfig(LIVE_ENVIRONMENT).PINRAIL_MODE).toBe('live')
    expect(readWorkerConfig(LIVE_ENVIRONMENT).CHAIN_ID).toBe(137)
  })

  describe('Variables that are refused by name', () => {
    test('partners without a name are refused, in the list that preflight prints', () => {
      for (const names of [undefined, 'wallet_app:Bankline'])
        expect(problemsWith({ PARTNER_NAMES: names }).join()).toContain(
          'card_partner:<name>:<statement>,local_partner:<name>:<statement>: buyers see them',
        )
    })

    test('each page of the platform that every page names is refused if it is missing or not on the web', () => {
      for (const name of ['STATUS_PAGE_URL', 'PRIVACY_URL', 'TERMS_URL', 'SUPPORT_EMAIL'])
        expect(problemsWith({ [name]: undefined }).join()).toBe(`${name}: must be set: every page links to it`)
      expect(problemsWith({ TERMS_URL: 'http://pinrail.example/terms' }).join()).toContain('must begin with https://')
    })

    test.each<[string, string, string]>([
      ['PUBLIC_URL', 'http://pay.pinrail.example', 'must begin with https://'],
      ['PUBLIC_URL', 'https://pay.pinrail.example/shop', 'must be scheme, host and port alone'],
      ['PUBLIC_URL', 'https://pay.pinrail.example?shop=1', 'must be scheme, host and port alone'],
      ['PUBLIC_URL', 'https://us@pay.pinrail.example', 'must be scheme, host and port alone'],
      ['PUBLIC_URL', 'https://localhost:4242', 'must not be on a local host'],
      ['PUBLIC_URL', 'https://[::1]', 'must not be on a local host'],
      ['PUBLIC_URL', 'https://192.168.1.7', 'must not be on a local host'],
      ['PUBLIC_URL', 'https://pay.localhost.', 'must not be on a local host'],
      ['WALLET_APP_URL', 'http://127.0.0.1:4300/wallet-app', 'must begin with https://'],
      ['CARD_PARTNER_URL', 'https://127.0.0.1/card-partner', 'must not be on a local host'],
      ['LOCAL_PARTNER_URL', 'https://[::ffff:127.0.0.1]', 'must not be on a local host'],
      ['CONVERTER_URL', 'https://sandbox:4300/converter', 'must not be on a local host'],
      ['CONVERTER', 'simulator', 'must be float'],
      ['BRIDGE_API_KEY', 'password123', 'must not be a common word, not even with digits'],
      ['BRIDGE_API_KEY', 'sk-test-2f9c41d07a6b8e35', 'must be a key of production'],
      ['CHAIN_ID', '80002', 'must be 137, the id of Polygon'],
      ['USDC_ADDRESS', '0x2791Bca1f2de4661Ed88A30C99A7a9449Aa84174', 'the contract of USDC on Polygon'],
      ['POLYGON_RPC_URLS', 'https://one.example/a', 'must name nodes on at least 2 hosts, and names 1'],
      ['POLYGON_RPC_URLS', 'https://one.example/a,https://one.example:8443/b', 'at least 2 hosts, and names 1'],
      [
        'POLYGON_RPC_URLS',
        'http://127.0.0.1:8545,https://one.example,https://two.example',
        'must not be on this machine',
      ],
      ['FINALITY_QUORUM', '1', 'must be at least 2'],
      ['POLYGON_RPC_URLS', 'https://one.example/a,https://one.example./b', 'at least 2 hosts, and names 1'],
      [
        'POLYGON_RPC_URLS',
        'https://a.example,https://b.example,https://c.example,https://d.example',
        'FINALITY_QUORUM: must be more than half of the 4 nodes: at least 3',
      ],
      ['FINALITY_QUORUM', '3', 'POLYGON_RPC_URLS: must name nodes on at least 3 hosts'],
      ['DATABASE_URL', 'postgres://pinrail:development-only@db.example/pinrail', 'must not have a password made for'],
      ['DATABASE_URL', 'postgres://pinrail:%64evelopment-only@db.example/pinrail', 'must not have a password made for'],
      ['DATABASE_URL', 'postgres://pinrail:postgres@db.example/pinrail', 'at least 12 characters'],
      ['DATABASE_URL', 'postgres://longusername1:longusername1@db.example/pinrail', 'at least 12 characters'],
      ['DATABASE_URL', 'postgres://pinrail@db.example/pinrail?password=pinrail', 'at least 12 characters'],
      [
        'DATABASE_URL',
        'postgres://db.example/pinrail?user=longusername1&password=longusername1',
        'at least 12 characters',
      ],
      [
        'DATABASE_URL',
        'postgres://pinrail@db.example/pinrail?password=development-only',
        'must not have a password made for',
      ],
      ['DATABASE_URL', 'postgres://pinrail:100%@db.example/pinrail', 'at least 12 characters'],
      ['MIGRATION_DATABASE_URL', 'postgres://owner:postgres@db.example/pinrail', 'at least 12 characters'],
      ['PGPASSWORD', 'development-only', 'must be a password of at least 12 characters'],
      ['PGPASSWORD', 'hunter2', 'must be a password of at least 12 characters'],
      ['CODEC_SERVER_TOKEN', 'token', 'must be at least 32 random characters'],
      ['MAIL_FROM', '', 'must be an address to which people can reply'],
      ['MAIL_FROM', 'Pinrail <pay@mail.local>', 'must be an address to which people can reply'],
      ['WEBHOOK_ENCRYPTION_KEY', base64(randomBytes(16)), 'must have at least 32 bytes in base64'],
      ['WEBHOOK_ENCRYPTION_KEY', base64(randomBytes(48)), 'must be 32 bytes in base64'],
      ['RETIRED_WEBHOOK_ENCRYPTION_KEYS', `${base64(random)},AAAA`, 'must have at least 32 bytes in base64'],
      // 32 characters, and fewer bytes.
      ['DEPOSIT_SEED', base64(randomBytes(24)), 'must have at least 32 bytes in base64'],
      ['DATABASE_DIRECT_URL', 'postgres://pinrail:postgres@db.example/pinrail', 'at least 12 characters'],
      ['DATABASE_READ_URL', 'postgres://pinrail:postgres@replica.example/pinrail', 'at least 12 characters'],
      ['API_KEY_PEPPER', 'pepper', 'must be at least 32 random characters'],
      ['API_KEY_PEPPER', 'abcabcabc'.repeat(5), 'must be at least 32 random characters'],
      ['WEBHOOK_ENCRYPTION_KEY', base64(Buffer.alloc(32, 7)), 'must be random'],
      ['RECEIPT_KEY', base64(Buffer.alloc(32, 7)), 'must be random'],
      ['RECEIPT_KEY', base64(Buffer.from('development-only-receipt-signing')), 'must not be made for development'],
      ['RECEIPT_KEY', base64(Buffer.alloc(16)), 'must be 32 bytes in base64'],
      ['TEMPORAL_CODEC_KEYS', '', 'must be set: without it Temporal stores payloads as plain text'],
      ['TEMPORAL_CODEC_KEYS', `a:${base64(random)},b:${base64(Buffer.alloc(32))}`, 'must have random keys'],
      ['RELAYER_KEYS', `0x${'1'.repeat(64)}`, 'must be random keys'],
      ['TREASURY_KEY', `0x${hex(random)}`, 'must be keystore:<path>'],
      ['RETIRED_TREASURY_KEYS', `keystore:/k.json, ${hex(random)}`, 'must be keystore:<path>'],
      ['CARD_PARTNER_SECRET', 'short', 'must have at least 16 characters'],
      ['PROVIDER_WALLET_APP', 'simulator', 'must be the driver of a real partner, revolut or stripe'],
      ['PROVIDER_CARD_PARTNER', 'simulator', 'must be the driver of a real partner, stripe'],
      ['PROVIDER_LOCAL_PARTNER', 'simulator', 'must be the driver of a real partner, razorpay or cashfree'],
      ['KEYSTORE_PASSWORD', 'abcabcabcabcabcabcabc', '8 of them different'],
      ['KEYSTORE_PASSWORD', 'Password12345678', 'must not be a common word, not even with digits'],
      ['DATABASE_URL', 'postgres://pinrail:changeme2026!!@db.example/pinrail', 'not easy to guess'],
      [
        'CONVERTER_SECRET',
        LIVE_ENVIRONMENT.WALLET_APP_SECRET,
        'WALLET_APP_SECRET: must not be the same as CONVERTER_SECRET',
      ],
      [
        'CONVERTER_SECRET',
        LIVE_ENVIRONMENT.LOCAL_PARTNER_SECRET.replace(/=+$/, ''),
        'LOCAL_PARTNER_SECRET: must not be the same as CONVERTER_SECRET',
      ],
      [
        'TEMPORAL_CODEC_KEYS',
        `a:${LIVE_ENVIRONMENT.WEBHOOK_ENCRYPTION_KEY}`,
        'WEBHOOK_ENCRYPTION_KEY: must not be the same as TEMPORAL_CODEC_KEYS',
      ],
      ['SMTP_URL', 'smtp://pinrail:a-password-of-length@mail.pinrail.example', 'must be smtps://'],
      ['DATABASE_URL', `${PLAIN_DATABASE}?sslmode=disable`, 'must have sslmode=verify-full'],
      ['DATABASE_READ_URL', `${PLAIN_DATABASE}?sslmode=no-verify`, 'must have sslmode=verify-full'],
      ['DATABASE_URL', PLAIN_DATABASE, 'must have sslmode=verify-full'],
      ['DATABASE_URL', `${PLAIN_DATABASE}?ssl=no-verify`, 'must have sslmode=verify-full'],
      ['DATABASE_URL', `${PLAIN_DATABASE}?sslmode=require&uselibpqcompat=true`, 'must have sslmode=verify-full'],
      ['DATABASE_URL', `${PLAIN_DATABASE}?sslmode=verify-full&sslmode=disable`, 'must have sslmode=verify-full'],
      ['DATABASE_DIRECT_URL', `${PLAIN_DATABASE}?sslrootcert=/missing.pem`, 'must have sslmode=verify-full'],
      [
        'DATABASE_DIRECT_URL',
        `${PLAIN_DATABASE}?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${import.meta.filename}`,
        'must have sslmode=verify-full',
      ],
      ['POLYGON_RPC_URLS', 'http://one.example,https://two.example', 'must begin with https://'],
      ['NODE_OPTIONS', '--tls-min-v1.0', 'must have options for memory and warnings alone'],
      ['NODE_OPTIONS', '--max-old-space-size=512 --insecure_http_parser', 'not --insecure_http_parser'],
      ['NODE_OPTIONS', '"--insecure-http-parser"', 'not "--insecure-http-parser"'],
      ['NODE_OPTIONS', '--tls-keylog=/tmp/keys', 'not --tls-keylog'],
      ['NODE_OPTIONS', '--require /tmp/x.cjs', 'not --require /tmp/x.cjs'],
      ['NODE_OPTIONS', '--import=data:text/javascript,x', 'not --import'],
      ['RELAYER_KEYS', `0x${hex(random)},0x${'0'.repeat(63)}1`, 'must be random keys'],
      ['WEBHOOK_TEST_TARGETS', '127.0.0.1:4301', 'must be empty'],
      ['SANDBOX_DATA', '/data', 'must not be set: simulators are not part of a live system'],
      ['INBOX_WEBHOOK_SECRET', 'whsec_a', 'must not be set: simulators are not part of a live system'],
      ['NODE_TLS_REJECT_UNAUTHORIZED', '0', 'must not be 0'],
      ['NODE_DEBUG', 'undici', 'it writes keys and tokens to the log'],
      ['NODE_OPTIONS', '--inspect_brk=0.0.0.0', 'not --inspect_brk'],
      ['NODE_OPTIONS', '--max-old-space-size=512 --inspect=0.0.0.0', 'not --inspect'],
      ['TEMPORAL_TLS_CLIENT_KEY_DATA', 'development-only', 'must not be made for development'],
    ])('live mode refuses %s=%s', (name, value, must) => {
      const [named, what] = must.includes(': must') ? must.split(': ', 2) : [name, must]
      const found = problemsWith({ [name]: value }).filter(
        (line) => line.startsWith(`${named}: `) && line.includes(what!),
      )
      expect(found).toHaveLength(1)
    })
  })

  test.each([
    ['no-verify', PLAIN_DATABASE, 1],
    ['disable', PLAIN_DATABASE, 1],
    ['no-verify', `${PLAIN_DATABASE}?sslmode=verify-full`, 0],
    ['verify-full', PLAIN_DATABASE, 0],
    ['disable', PLAIN_DATABASE.replace(/@[^/]*/, '@127.0.0.1'), 0],
    ['disable', PLAIN_DATABASE.replace(/@[^/]*/, '@[::1]'), 0],
    ['disable', `${PLAIN_DATABASE}?host=/run/postgresql`, 0],
  ])('live mode checks a database URL as the driver reads it with PGSSLMODE=%s: %s', (mode, url, problems) => {
    const { PGSSLMODE: before } = process.env
    process.env['PGSSLMODE'] = mode
    try {
      expect(problemsWith({ DATABASE_URL: url })).toHaveLength(problems)
    } finally {
      if (before === undefined) delete process.env['PGSSLMODE']
      else process.env['PGSSLMODE'] = before
    }
  })

  describe('A secret made for development', () => {
    test.each<[string, string]>([
      ['as it is', DEVELOPMENT_MARK],
      ['within a text', `my-${DEVELOPMENT_MARK}-secret`],
      ['in capitals', DEVELOPMENT_MARK.toUpperCase()],
      ['in base64', base64(`${DEVELOPMENT_MARK}-webhook-secrets`)],
      ['in base64url', Buffer.from(`?>${DEVELOPMENT_MARK}?>`).toString('base64url')],
      ['in hexadecimal digits', hex(DEVELOPMENT_MARK)],
      ['in hexadecimal digits of base64', hex(base64(DEVELOPMENT_MARK))],
      ['with percent escapes', encodeURIComponent(DEVELOPMENT_MARK).replaceAll('-', '%2D')],
      ['in the last of several', `${base64(random)},${base64(DEVELOPMENT_MARK)}`],
      ['as a webhook secret', `whsec_${base64(`${DEVELOPMENT_MARK}-webhook-secrets`)}`],
    ])('a secret for development is refused: %s', (_how, secret) => {
      for (const name of ['CARD_PARTNER_SECRET', 'KEYSTORE_PASSWORD', 'API_KEY_PEPPER'])
        expect(problemsWith({ [name]: secret })).toContain(`${name}: must not be made for development`)
    })

    test('every secret that npm start makes is refused', () => {
      const { relayerKeys, merchantKey: _ofTheDemo, ...secrets } = generateSecrets()
      const all = [...Object.values(secrets), ...relayerKeys]
      expect(all).toHaveLength(13)
      for (const secret of all)
        expect(problemsWith({ LOCAL_PARTNER_SECRET: secret })).toEqual([
          'LOCAL_PARTNER_SECRET: must not be made for development',
        ])
    })

    test('every secret that docker-compose.yml contains is refused, all at once', () => {
      const file = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
      const { services } = parse(file, { merge: true }) as {
        services: Record<string, { environment: Record<string, string> }>
      }
      const shipped = Object.entries(services['worker']!.environment).map(([name, value]) => [
        name,
        value.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
      ])
      const env = { ...(Object.fromEntries(shipped) as Record<string, string>), PINRAIL_MODE: 'live' }
      const refused = [
        ['WALLET_APP_SECRET', 'CARD_PARTNER_SECRET', 'LOCAL_PARTNER_SECRET', 'CONVERTER_SECRET', 'API_KEY_PEPPER'],
        ['WEBHOOK_ENCRYPTION_KEY', 'TREASURY_KEY', 'RELAYER_KEYS', 'PUBLIC_URL', 'DATABASE_URL', 'CHAIN_ID'],
        ['WALLET_APP_URL', 'CARD_PARTNER_URL', 'LOCAL_PARTNER_URL', 'CONVERTER_URL', 'POLYGON_RPC_URLS'],
        ['FINALITY_QUORUM', 'WEBHOOK_TEST_TARGETS', 'TEMPORAL_CODEC_KEYS', 'RECEIPT_KEY', 'MAIL_FROM', 'SMTP_URL'],
        ['DEPOSIT_SEED', 'CONVERTER', 'PROVIDER_WALLET_APP', 'PROVIDER_CARD_PARTNER', 'PROVIDER_LOCAL_PARTNER'],
      ].flat()
      const named = new Set(preflightProblems(env).map(({ name }) => name))
      // Compose leaves these to test mode, or sets them for the api alone.
      const unset = [
        ['PARTNER_NAMES', 'STATUS_PAGE_URL', 'PRIVACY_URL', 'TERMS_URL', 'SUPPORT_EMAIL'],
        ['WALLET_APP_WEBHOOK_SECRETS', 'CARD_PARTNER_WEBHOOK_SECRETS', 'LOCAL_PARTNER_WEBHOOK_SECRETS'],
      ].flat()
      expect([...named].sort()).toEqual([...refused, ...unset].sort())
      expect(() => readWorkerConfig(env)).toThrow(
        new RegExp(
          refused
            .sort()
            .map((name) => `(?=[^]*  ${name}: )`)
            .join(''),
        ),
      )
    })
  })

  describe('A public test key', () => {
    test('the first hundred keys of the well-known mnemonic, and of Ganache’s, are refused', () => {
      const ganache = 'myth like bonus scare over problem client lizard pioneer submit female collect'
      for (const mnemonic of [TEST_MNEMONIC, ganache])
        for (const index of [0, 1, 4, 5, 9, 10, 19, 20, 57, 99])
          expect(problemsWith({ RELAYER_KEYS: `0x${hex(accountKey(index, mnemonic))}` })).toEqual([
            'RELAYER_KEYS: must not be a public test key',
          ])
    })

    const key = accountKey(7)
    test.each<[string, string]>([
      ['with capital digits', `0x${hex(key).toUpperCase()}`],
      ['without 0x', hex(key)],
      ['in base64', base64(key)],
      ['in base64url', Buffer.from(key).toString('base64url')],
      ['as a decimal number', BigInt(`0x${hex(key)}`).toString()],
      ['after a good one', `0x${hex(random)}, 0x${hex(key)}`],
      ['as the mnemonic itself', TEST_MNEMONIC],
      ['as the mnemonic in base64', base64(TEST_MNEMONIC)],
    ])('a public test key is refused: %s', (_how, secret) => {
      for (const name of ['TREASURY_KEY', 'RETIRED_TREASURY_KEYS', 'RELAYER_KEYS', 'GAS_FUNDING_KEY', 'DEPOSIT_SEED'])
        expect(problemsWith({ [name]: secret })).toContain(`${name}: must not be a public test key`)
    })
  })

  test('no simulator starts in live mode', () => {
    const env = { PINRAIL_MODE: 'live', SANDBOX_DATA: '/data', INBOX_DATA: '/data' }
    expect(() => readSandboxConfig(env)).toThrow('PINRAIL_MODE: must be test: this process is a simulator')
    expect(() => readInboxConfig(env)).toThrow('PINRAIL_MODE: must be test: this process is a simulator')
  })

  test('a slash at the end of PUBLIC_URL is removed, so that URLs of pages have no double slash', () => {
    const env = { ...LIVE_ENVIRONMENT, PUBLIC_URL: 'https://Pay.pinrail.example/' }
    expect(readApiConfig(env).PUBLIC_URL).toBe('https://pay.pinrail.example')
    expect(readWorkerConfig(env).PUBLIC_URL).toBe('https://pay.pinrail.example')
  })

  describe('A variable in a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pinrail-secrets-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'pepper')
    const { API_KEY_PEPPER, ...rest } = LIVE_ENVIRONMENT
    writeFileSync(file, `${API_KEY_PEPPER}\n`)

    test('a variable is read from the file that NAME_FILE names, without the end of its last line', () => {
      const env = { ...rest, API_KEY_PEPPER_FILE: file }
      expect(preflightProblems(env)).toEqual([])
      expect(readApiConfig(env).API_KEY_PEPPER.reveal()).toBe(API_KEY_PEPPER)
    })

    test('a variable in a file is refused by name if the file cannot be read, or the variable is set as well', () => {
      expect(preflightProblems({ ...rest, API_KEY_PEPPER_FILE: join(folder, 'missing') })).toEqual([
        { name: 'API_KEY_PEPPER_FILE', must: expect.stringMatching(/^must be a file that can be read: .*ENOENT/) },
      ])
      expect(preflightProblems({ ...LIVE_ENVIRONMENT, API_KEY_PEPPER_FILE: file })).toEqual([
        { name: 'API_KEY_PEPPER_FILE', must: 'must not be set together with API_KEY_PEPPER' },
      ])
    })

    test('a variable in a file is checked like any other', () => {
      writeFileSync(join(folder, 'weak'), 'pepper')
      expect(preflightProblems({ ...rest, API_KEY_PEPPER_FILE: join(folder, 'weak') })).toEqual([
        { name: 'API_KEY_PEPPER', must: expect.stringContaining('must be at least 32 random characters') },
      ])
    })
  })

  test('operator commands require a quorum of nodes in live mode', () => {
    const env = { ...LIVE_ENVIRONMENT, CHAIN_ID: '137', USDC_ADDRESS: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' }
    expect(readOperatorConfig(env).FINALITY_QUORUM).toBe(2)
    expect(() => readOperatorConfig({ ...env, FINALITY_QUORUM: '' })).toThrow('FINALITY_QUORUM: must be at least 2')
  })

  test('test mode accepts everything that live mode refuses', () => {
    const env = {
      ...LIVE_ENVIRONMENT,
      PINRAIL_MODE: 'test',
      PROVIDER_CARD_PARTNER: 'simulator',
      PROVIDER_LOCAL_PARTNER: 'simulator',
      PUBLIC_URL: 'http://127.0.0.1:4242',
      TEMPORAL_CODEC_KEYS: '',
    }
    expect(readWorkerConfig({ ...env, API_KEY_PEPPER: DEVELOPMENT_MARK }).PINRAIL_MODE).toBe('test')
  })
})

describe('The preflight', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.drop())

  /** The variables of a live system, with a database that answers. */
  const live = () => ({ ...LIVE_ENVIRONMENT, DATABASE_URL: database.url })

  const folder = mkdtempSync(join(tmpdir(), 'pinrail-preflight-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
  const key = mnemonicToAccount(TEST_MNEMONIC, { addressIndex: 7 }).getHdKey().privateKey!

  async function preflight(env: Record<string, string>): Promise<{ code: number; said: string[] }> {
    const said: string[] = []
    const code = await runCommand({ args: ['preflight'], env, say: (line) => void said.push(line) })
    return { code, said }
  }

  describe('pinrail preflight', () => {
    test('pinrail preflight exits with 0 if the system is ready for live mode', async () => {
      expect(await preflight(live())).toEqual({ code: 0, said: ['ready for live mode'] })
    })

    test('pinrail preflight advises to set the imprint and the name, and is ready without them', async () => {
      const { IMPRINT_URL: _imprint, PLATFORM_NAME: _name, ...rest } = live()
      expect(await preflight(rest)).toEqual({
        code: 0,
        said: [
          'IMPRINT_URL: should be set: many countries require a page that says who you are',
          'PLATFORM_NAME: should be set: pages, mails and receipts show the name Pinrail',
          'ready for live mode',
        ],
      })
    })

    test('pinrail preflight lists all missing, wrong and test values together, and exits with 1', async () => {
      const { API_KEY_PEPPER: _gone, ...rest } = live()
      const env = { ...rest, PINRAIL_MODE: 'test', DATABASE_POOL: 'many', PUBLIC_URL: 'http://localhost' }
      expect(await preflight(env)).toEqual({
        code: 1,
        said: [
          'PINRAIL_MODE: must be live',
          'DATABASE_POOL: must be a whole number',
          'API_KEY_PEPPER: must be set',
          'PUBLIC_URL: must begin with https://',
          '4 to fix before live mode',
        ],
      })
    })

    test.each(['DATABASE_URL', 'DATABASE_READ_URL'])(
      'pinrail preflight names a database that does not answer: %s',
      async (name) => {
        const { code, said } = await preflight({
          ...live(),
          [name]: LIVE_ENVIRONMENT.DATABASE_URL.replace(/@.*/, '@127.0.0.1:9/none'),
        })
        expect([code, said[0]]).toEqual([
          1,
          expect.stringMatching(new RegExp(`^${name}: must be a usable database: .*ECONNREFUSED`)),
        ])
      },
    )

    test('pinrail preflight names the keystore that cannot be opened', async () => {
      const path = join(folder, 'missing.json')
      const { code, said } = await preflight({
        ...live(),
        RELAYER_KEYS: `keystore:${path}`,
      })
      expect([code, said[0]]).toEqual([1, expect.stringMatching(/^RELAYER_KEYS: must open: .*ENOENT/)])
    })

    test.each([
      ['TREASURY_KEY', 'the treasury'],
      ['RELAYER_KEYS', `0x${hex(random)},${hex(random)}`],
      ['GAS_FUNDING_KEY', 'vault:gas'],
    ])('pinrail preflight names a key that no process could open: %s', async (name, value) => {
      const { code, said } = await preflight({ ...live(), [name]: value })
      expect([code, said]).toEqual([1, [expect.stringMatching(`^${name}: must open: a key is 0x`), expect.anything()]])
    })

    test.each([
      ['GAS_FUNDING_KEY', `0x${hex(random)},0x${hex(randomBytes(32))}`, 'must be one key'],
      ['COUNTRY_DATABASE', join(folder, 'missing.mmdb'), 'must be a file of countries: '],
      ['COUNTRY_DATABASE', import.meta.filename, 'must be a file of countries: '],
      [
        'POLYGON_RPC_URLS',
        'https://one.example,https://two.example/a,https://two.example/b',
        'must name each host once',
      ],
    ])('pinrail preflight names the error that would end api or worker: %s=%s', async (name, value, must) => {
      const { code, said } = await preflight({ ...live(), [name]: value })
      expect([code, said]).toEqual([1, [expect.stringContaining(`${name}: ${must}`), expect.anything()]])
    })

    const relayer = `0x${hex(random)}`
    const LIVE_TREASURY = privateKeyToAccount(LIVE_TREASURY_KEY).address.toLowerCase()
    test.each([
      [
        'RELAYER_KEYS',
        { RELAYER_KEYS: `${relayer},${LIVE_TREASURY_KEY}` },
        'must not be the same wallets as TREASURY_KEY',
      ],
      ['RELAYER_KEYS', { RELAYER_KEYS: `${relayer}, ${relayer}` }, 'must name each wallet once'],
      [
        'GAS_FUNDING_KEY',
        { RELAYER_KEYS: relayer, GAS_FUNDING_KEY: relayer },
        'must not be the same wallets as RELAYER_KEYS',
      ],
      [
        'RETIRED_TREASURY_KEYS',
        { RETIRED_TREASURY_KEYS: LIVE_ENVIRONMENT.TREASURY_KEY, TREASURIES: LIVE_TREASURY },
        'must not be the same wallets as TREASURY_KEY',
      ],
      [
        'TREASURIES',
        { TREASURIES: `0x${'1'.repeat(40)}` },
        `must name ${LIVE_TREASURY}, whose key is configured: append it with the date from which it pays (,${LIVE_TREASURY}@<date>)`,
      ],
      [
        'TREASURIES',
        { TREASURIES: `${LIVE_TREASURY},0x${'1'.repeat(40)}` },
        'must have a date at each address but the first',
      ],
    ])(
      'pinrail preflight names a wallet with two roles, with which the engine does not start: %s',
      async (name, env, must) => {
        const { code, said } = await preflight({ ...live(), ...env })
        expect([code, said]).toEqual([1, [`${name}: ${must}`, '1 to fix before live mode']])
      },
    )

    test('pinrail preflight shows no content of an invalid keystore: it can be the key itself', async () => {
      const path = join(folder, 'plain.json')
      const digits = hex(Buffer.alloc(32, 0xab))
      writeFileSync(path, digits)
      const { said } = await preflight({
        ...live(),
        TREASURY_KEY: `keystore:${path}`,
      })
      expect(said[0]).toContain('not a keystore of version 3')
      expect(said.join('\n')).not.toContain('abab')
    })

    test.each([
      ['keystore:', 'TREASURY_KEY: must open: keystore: is followed by a private key, not by a path'],
      ['keystore:0x', 'TREASURY_KEY: must open: keystore: is followed by a private key, not by a path'],
    ])(
      'pinrail preflight does not show a key that is set instead of a keystore’s path: %s…',
      async (before, problem) => {
        const digits = hex(Buffer.alloc(32, 0xab))
        const { said } = await preflight({ ...live(), TREASURY_KEY: `${before}${digits}` })
        expect(said).toEqual([problem, '1 to fix before live mode'])
      },
    )

    test('pinrail preflight shows no line of an unreadable file of profiles: it can contain the API key', async () => {
      const path = join(folder, 'temporal.toml')
      const secret = randomBytes(16).toString('hex')
      writeFileSync(path, `[profile.default]\napi_key = "${secret}\naddress = "a:1"\n`)
      const { said } = await preflight({ ...live(), TEMPORAL_CONFIG_FILE: path })
      expect(said[0]).toContain('TEMPORAL_*: must name a server: Invalid TOML document')
      expect(said.join('\n')).not.toContain(secret)
    })

    test('pinrail preflight shows no secret', async () => {
      const secret = `${DEVELOPMENT_MARK}-${randomBytes(8).toString('hex')}`
      const { said } = await preflight({
        ...live(),
        CONVERTER_SECRET: secret,
        DATABASE_URL: `postgres://a:${secret}@b/c`,
      })
      expect(said).toHaveLength(3)
      expect(said.join('\n')).not.toContain(secret.slice(-16))
    })

    test('pinrail preflight refuses a public test key in a keystore, as the worker does when it opens it', async () => {
      const path = join(folder, 'public.json')
      const password = randomBytes(16).toString('hex')
      writeFileSync(path, JSON.stringify(scryptKeystore(`0x${hex(key)}`, password)))
      const env = { ...live(), TREASURY_KEY: `keystore:${path}`, KEYSTORE_PASSWORD: password }
      const config = readWorkerConfig(env)
      await expect(openKeys(config, config.TREASURY_KEY)).rejects.toThrow('is the account of a public test key')
      expect(await preflight(env)).toEqual({
        code: 1,
        said: ['TREASURY_KEY: must not be a public test key', '1 to fix before live mode'],
      })
    })
  })
})
