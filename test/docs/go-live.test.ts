import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { KNOWN_VARIABLES, preflightProblems, readApiConfig, readWorkerConfig } from '../../src/config/config.ts'

const page = readFileSync(new URL('../../docs/go-live.md', import.meta.url), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'pinrail-go-live-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The commands of the page that write `live.env`. Others need a cloud, a cluster or a running system. */
const commands = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
  .map(([, text = '']) => text)
  .filter((text) => text.includes('live.env') && !text.startsWith('docker '))

const random = (): string => randomBytes(16).toString('hex')

/** The credentials that partners, converter and mail server give to a customer. */
const GIVEN = {
  REVOLUT_KEY: `sk_${random()}`,
  REVOLUT_SIGNING_SECRET: `wsk_${random()}`,
  STRIPE_ACCOUNT: 'acct_1A2b3C4d5E6f7G',
  STRIPE_KEY: `rk_live_${random()}`,
  STRIPE_SIGNING_SECRET: `whsec_${random()}`,
  RAZORPAY_KEY_ID: 'rzp_live_A1b2C3d4E5f6G7',
  RAZORPAY_KEY: random(),
  RAZORPAY_WEBHOOK_SECRET: random(),
  CONVERTER_KEY: random(),
  SMTP_PASSWORD: random(),
}

/** Reads the file as `docker run --env-file` does: a line is a name and, to its end, a value. */
const readEnvFile = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

describe('The page “From nothing to live”', () => {
  test('the commands of the page write all variables that live mode needs, and none that it refuses', () => {
    const PATH = process.env['PATH'] ?? ''
    for (const command of commands) execFileSync('sh', ['-euc', command], { cwd: folder, env: { PATH, ...GIVEN } })
    const env = readEnvFile(readFileSync(join(folder, 'live.env'), 'utf8'))
    expect(preflightProblems(env)).toEqual([])
    expect([readApiConfig(env), readWorkerConfig(env)].map((config) => config.PINRAIL_MODE)).toEqual(['live', 'live'])
    expect(Object.keys(env).filter((name) => !KNOWN_VARIABLES.has(name))).toEqual([])
    expect(env).toMatchObject({ PLATFORM_NAME: 'Example Pay', IMPRINT_URL: expect.anything(), SIGN_UP: 'invited' })
  })

  test('the USDC that the page has sent to the treasury is more than conversions leave there', () => {
    const [, sent] = /Send (\d+) USDC to the treasury/.exec(page) ?? []
    const [, reserve] = /^FLOAT_RESERVE_USDC=(\d+)$/m.exec(page) ?? []
    expect(Number(sent)).toBeGreaterThan(Number(reserve))
  })

  test('the page names only variables that exist', () => {
    const named = [...page.matchAll(/`([A-Z][A-Z_]{3,})(?:=[^`]*)?`/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !KNOWN_VARIABLES.has(name))).toEqual([])
  })
})
