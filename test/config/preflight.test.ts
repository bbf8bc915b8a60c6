import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { DEVELOPMENT_MARK } from '../../src/config/development.ts'
import { readWorkerConfig } from '../../src/config.ts'
import { openKeys } from '../../src/deps/keys.ts'
import { runCommand } from '../../src/operator/command.ts'
import { scryptKeystore } from '../chain/keys/keystore.ts'

const folder = mkdtempSync(join(tmpdir(), 'pinrail-preflight-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TEST_MNEMONIC = 'test test test test test test test test test test test junk'
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const random = randomBytes(32)
const key = mnemonicToAccount(TEST_MNEMONIC, { addressIndex: 7 }).getHdKey().privateKey!

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

/** The variables of a live system, with a database that answers. */
const live = () => ({ ...LIVE_ENVIRONMENT, DATABASE_URL: database.url })

async function preflight(env: Record<string, string>): Promise<{ code: number; said: string[] }> {
  const said: string[] = []
  const code = await runCommand({ args: ['preflight'], env, say: (line) => void said.push(line) })
  return { code, said }
}

describe('pinrail preflight', () => {
  test('answers 0 when nothing speaks against live mode', async () => {
    expect(await preflight(live())).toEqual({ code: 0, said: ['nothing speaks against live mode'] })
  })

  test('lists what is missing, wrong and not live together, and answers 1', async () => {
    const { API_KEY_PEPPER: _gone, ...rest } = live()
    const env = { ...rest, PINRAIL_MODE: 'test', DATABASE_POOL: 'many', PUBLIC_URL: 'http://localhost' }
    expect(await preflight(env)).toEqual({
      code: 1,
      said: [
        'PINRAIL_MODE: must be live',
        'DATABASE_POOL: must be a whole number',
        'API_KEY_PEPPER: must be set',
        'PUBLIC_URL: must begin with https://',
        '4 to mend before live mode',
      ],
    })
  })

  test.each(['DATABASE_URL', 'DATABASE_READ_URL'])('names a database that does not answer: %s', async (name) => {
    const { code, said } = await preflight({
      ...live(),
      [name]: LIVE_ENVIRONMENT.DATABASE_URL.replace(/@.*/, '@127.0.0.1:9/none'),
    })
    expect([code, said[0]]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${name}: must be a usable database: .*ECONNREFUSED`)),
    ])
  })

  test('says which keystore does not open', async () => {
    const path = join(folder, 'missing.json')
    const { code, said } = await preflight({
      ...live(),
      RELAYER_KEYS: `keystore:${path}`,
      KEYSTORE_PASSWORD: 'p',
    })
    expect([code, said[0]]).toEqual([1, expect.stringMatching(/^RELAYER_KEYS: must open: .*ENOENT/)])
  })

  test.each([
    ['TREASURY_KEY', 'the treasury'],
    ['RELAYER_KEYS', `0x${hex(random)},${hex(random)}`],
    ['GAS_FUNDING_KEY', 'vault:gas'],
  ])('a key that no process could open is named: %s', async (name, value) => {
    const { code, said } = await preflight({ ...live(), [name]: value })
    expect([code, said]).toEqual([1, [expect.stringMatching(`^${name}: must open: a key is 0x`), expect.anything()]])
  })

  test.each([
    ['GAS_FUNDING_KEY', `0x${hex(random)},0x${hex(randomBytes(32))}`, 'must be one key'],
    ['COUNTRY_DATABASE', join(folder, 'missing.mmdb'), 'must be a file of countries: '],
    ['COUNTRY_DATABASE', import.meta.filename, 'must be a file of countries: '],
    ['POLYGON_RPC_URLS', 'https://one.example,https://two.example/a,https://two.example/b', 'must name each host once'],
  ])('what api or worker would end with is named before: %s=%s', async (name, value, must) => {
    const { code, said } = await preflight({ ...live(), [name]: value })
    expect([code, said]).toEqual([1, [expect.stringContaining(`${name}: ${must}`), expect.anything()]])
  })

  const { TREASURY_KEY } = LIVE_ENVIRONMENT
  const relayer = `0x${hex(random)}`
  test.each([
    ['RELAYER_KEYS', { RELAYER_KEYS: `${relayer},${TREASURY_KEY}` }, 'must be other wallets than TREASURY_KEY'],
    ['RELAYER_KEYS', { RELAYER_KEYS: `${relayer}, ${relayer}` }, 'must name each wallet once'],
    ['GAS_FUNDING_KEY', { RELAYER_KEYS: relayer, GAS_FUNDING_KEY: relayer }, 'must be other wallets than RELAYER_KEYS'],
    ['RETIRED_TREASURY_KEYS', { RETIRED_TREASURY_KEYS: TREASURY_KEY }, 'must be other wallets than TREASURY_KEY'],
    [
      'RETIRED_TREASURIES',
      { RETIRED_TREASURIES: privateKeyToAccount(TREASURY_KEY as `0x${string}`).address },
      'must be other wallets than TREASURY_KEY',
    ],
  ])('a wallet with two roles, with which the engine does not start, is named before: %s', async (name, env, must) => {
    const { code, said } = await preflight({ ...live(), ...env })
    expect([code, said]).toEqual([1, [`${name}: ${must}`, '1 to mend before live mode']])
  })

  test('of a keystore that is no keystore nothing is shown: it may be the key itself', async () => {
    const path = join(folder, 'plain.json')
    const digits = hex(Buffer.alloc(32, 0xab))
    writeFileSync(path, digits)
    const { said } = await preflight({
      ...live(),
      TREASURY_KEY: `keystore:${path}`,
      KEYSTORE_PASSWORD: 'p',
    })
    expect(said[0]).toContain('not a keystore of version 3')
    expect(said.join('\n')).not.toContain('abab')
  })

  test.each([
    ['keystore:', 'TREASURY_KEY: must open: keystore: is followed by a private key, not by a path'],
    ['keystore:0x', 'TREASURY_KEY: must open: keystore: is followed by a private key, not by a path'],
  ])('a key that stands where the path of a keystore should is not shown: %s…', async (before, told) => {
    const digits = hex(Buffer.alloc(32, 0xab))
    const { said } = await preflight({ ...live(), TREASURY_KEY: `${before}${digits}` })
    expect(said).toEqual([told, '1 to mend before live mode'])
  })

  test('of a file of profiles that cannot be read no line is shown: it may be that of the API key', async () => {
    const path = join(folder, 'temporal.toml')
    const secret = randomBytes(16).toString('hex')
    writeFileSync(path, `[profile.default]\napi_key = "${secret}\naddress = "a:1"\n`)
    const { said } = await preflight({ ...live(), TEMPORAL_CONFIG_FILE: path })
    expect(said[0]).toContain('TEMPORAL_*: must name a server: Invalid TOML document')
    expect(said.join('\n')).not.toContain(secret)
  })

  test('shows no secret', async () => {
    const secret = `${DEVELOPMENT_MARK}-${randomBytes(8).toString('hex')}`
    const { said } = await preflight({
      ...live(),
      CONVERTER_SECRET: secret,
      DATABASE_URL: `postgres://a:${secret}@b/c`,
    })
    expect(said).toHaveLength(3)
    expect(said.join('\n')).not.toContain(secret.slice(-16))
  })

  test('refuses a public test key in a keystore, as the worker does when it opens it', async () => {
    const path = join(folder, 'public.json')
    const password = randomBytes(16).toString('hex')
    writeFileSync(path, JSON.stringify(scryptKeystore(`0x${hex(key)}`, password)))
    const env = { ...live(), TREASURY_KEY: `keystore:${path}`, KEYSTORE_PASSWORD: password }
    const config = readWorkerConfig(env)
    await expect(openKeys(config, config.TREASURY_KEY)).rejects.toThrow('is the account of a public test key')
    expect(await preflight(env)).toEqual({
      code: 1,
      said: ['TREASURY_KEY: must not be a public test key', '1 to mend before live mode'],
    })
  })
})
