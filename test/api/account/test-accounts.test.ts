import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { createPinrail } from '../../../src/client/index.ts'
import { insertRequests } from '../../../src/db/merchants/requests.ts'
import { signIn, Visitor } from '../site/visitor.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'

const DAY_MS = 86_400_000
const COMMAND = fileURLToPath(new URL('../../../src/client/cli/main.ts', import.meta.url))
const TSX = import.meta.resolve('tsx')

type TestAccount = Readonly<
  Record<'id' | 'name' | 'api_key' | 'webhook_secret' | 'wallet' | 'claim_url' | 'expires_at', string>
>

describe('Test accounts without a person', () => {
  const FREE = { ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 } }
  const clock = { now: Date.now() }
  let limits = createRequestLimits(FREE)
  const writing: Promise<void>[] = []
  let testApi: TestApi
  beforeAll(async () => {
    testApi = await openTestApi({
      deps: ({ limits: usual }) => ({
        clock: () => clock.now,
        onRequest: (request) => void writing.push(insertRequests(testApi.db, [request])),
        limits: { ...usual, countForm: (...of) => limits.countForm(...of) },
      }),
    })
  }, 60_000)
  afterAll(() => testApi?.close())

  const ask = async (body: object, url = testApi.url): Promise<{ status: number; body: Record<string, unknown> }> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/test/accounts`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const create = async (body: object = {}): Promise<TestAccount> => (await ask(body)).body as TestAccount
  const getClaimPath = ({ claim_url: url }: TestAccount): string => new URL(url).pathname
  const tryKey = ({ api_key: apiKey }: TestAccount) =>
    createPinrail({ apiKey, baseUrl: testApi.url }).payments.create({ amount: '10', currency: 'EUR' })

  test('a program gets a key with which it takes payments at once', async () => {
    const account = await create()
    expect(account).toMatchObject({ object: 'test_account', livemode: false, name: 'Test shop' })
    const payment = await tryKey(account)
    expect(payment.settlement.destination).toBe(account.wallet)
    const own = createPinrail({ apiKey: account.api_key, baseUrl: testApi.url })
    expect(await own.account.read()).toMatchObject({ id: account.id, status: 'approved' })
    const [{ method, path, key_name: key } = {}] = (await own.requests.list({ path: '/v1/payments' })).data
    expect({ method, path, key }).toEqual({ method: 'POST', path: '/v1/payments', key: 'Test account' })
  })

  test('the wallet, the name and an endpoint can be named, and the endpoint has the secret of the answer', async () => {
    const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const url = 'https://shop.example/hooks'
    const account = await create({ name: 'Halden Coffee', wallet, webhook_url: url })
    expect(account).toMatchObject({ name: 'Halden Coffee', wallet, webhook_url: url })
    const { rows } = await testApi.db.query('select id, secrets from webhook_endpoint where merchant_id = $1', [
      account.id,
    ])
    const [endpoint] = rows as { id: string; secrets: { sealed: string }[] }[]
    const sealed = endpoint?.secrets[0]?.sealed ?? ''
    expect(testApi.secretBox.open(sealed, endpoint?.id ?? '')).toBe(account.webhook_secret)
  })

  test.each([
    [{ name: 'Pinrail Support' }, 'name'],
    [{ wallet: '0x1234' }, 'wallet'],
    [{ webhook_url: 'http://169.254.169.254/' }, 'url'],
    [{ email: 'ada@shop.example' }, 'email'],
  ])('%j is refused with the field', async (body, param) => {
    const before = await testApi.db.query('select count(*) from merchant')
    expect(await ask(body)).toMatchObject({ status: 400, body: { param } })
    expect((await testApi.db.query('select count(*) from merchant')).rows).toEqual(before.rows)
  })

  test('the key cannot invite people, add channels or create keys', async () => {
    const { api_key: apiKey } = await create()
    const own = createPinrail({ apiKey, baseUrl: testApi.url })
    await expect(own.team.invite({ email: 'a@b.example', role: 'viewer' })).rejects.toThrow('insufficient_scope')
    await expect(own.apiKeys.create({ name: 'more' })).rejects.toThrow('insufficient_scope')
    const channel = { kind: 'slack' as const, name: 'x', webhook_url: 'https://hooks.slack.com/services/T/B/x' }
    await expect(own.notificationChannels.create(channel)).rejects.toThrow('insufficient_scope')
  })

  test('the page of the link names the wallet and the endpoints that the program chose', async () => {
    const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const account = await create({ wallet, webhook_url: 'https://thief.example/hooks' })
    const visitor = await signIn(testApi, 'careful@shop.example')
    const { html } = await visitor.get(getClaimPath(account))
    expect(html).toContain(wallet)
    expect(html).toContain('https://thief.example/hooks')
  })

  test('the log of requests has no address of an invited person', async () => {
    const body = { email: 'hidden@shop.example', role: 'viewer' }
    expect((await testApi.ask('POST', '/v1/invitations', { body })).status).toBe(201)
    await Promise.all(writing)
    const { key } = await testApi.addKey(testApi.tenant, ['audit:read'])
    const { body: list } = await testApi.ask('GET', '/v1/requests?path=/v1/invitations', { key })
    const [{ id }] = list['data'] as [{ id: string }]
    const { text, body: entry } = await testApi.ask('GET', `/v1/requests/${id}`, { key })
    expect(entry).toMatchObject({
      request_body: '{"email":"(hidden)","role":"viewer"}',
      response_body: expect.stringContaining('"email":"(hidden)"'),
    })
    expect(text).not.toContain('hidden@')
  })

  test('whoever signs in with the link becomes the owner, once, and the key has no end then', async () => {
    const account = await create({ name: 'Mine soon' })
    const stranger = new Visitor(testApi)
    expect((await stranger.get(getClaimPath(account))).to).toBe(
      `/sign-in?to=${encodeURIComponent(getClaimPath(account))}`,
    )
    const visitor = await signIn(testApi, 'ada@shop.example')
    expect((await visitor.get(getClaimPath(account))).html).toContain('Make “Mine soon” your account?')
    expect(await visitor.submit(getClaimPath(account))).toMatchObject({ status: 303, to: '/dashboard' })
    expect((await visitor.get('/dashboard')).html).toContain('Mine soon')
    expect((await visitor.submit(getClaimPath(account))).status).toBe(404)
    const other = await signIn(testApi, 'bob@shop.example')
    expect((await other.get(getClaimPath(account))).status).toBe(404)
    const { rows } = await testApi.db.query('select expires_at from api_key where merchant_id = $1', [account.id])
    expect(rows).toEqual([{ expires_at: null }])
  })

  test('only one of two people at the same moment becomes the owner', async () => {
    const account = await create()
    const people = await Promise.all(
      ['cy@shop.example', 'di@shop.example'].map(async (email) => {
        const visitor = await signIn(testApi, email)
        return { visitor, form: await visitor.formField() }
      }),
    )
    const answers = await Promise.all(
      people.map(({ visitor, form }) => visitor.post(getClaimPath(account), { _form: form })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303, 404]))
    const { rows } = await testApi.db.query('select role from membership where merchant_id = $1', [account.id])
    expect(rows).toEqual([{ role: 'owner' }])
  })

  test('after 60 days neither the link nor the key works', async () => {
    const account = await create()
    const start = clock.now
    clock.now = start + 60 * DAY_MS - 1000
    const visitor = await signIn(testApi, 'eve@shop.example')
    expect((await visitor.get(getClaimPath(account))).status).toBe(200)
    await tryKey(account)
    clock.now = start + 60 * DAY_MS + 1000
    expect((await visitor.submit(getClaimPath(account))).status).toBe(404)
    await expect(tryKey(account)).rejects.toThrow('invalid_api_key')
    clock.now = start
  })

  test('a network has a limit, and the answer says when to try again', async () => {
    limits = createRequestLimits({ ...FREE, formsPerHour: 2 })
    expect((await ask({})).status).toBe(201)
    expect((await ask({})).status).toBe(201)
    expect(await ask({})).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    limits = createRequestLimits(FREE)
  })

  test('a deployment where not everybody can sign up has none, and live mode has no such path', async () => {
    for (const [options, status] of [
      [{ deps: () => ({ signUp: 'invited' as const }) }, 409],
      [{ mode: 'live' as const }, 404],
    ] as const) {
      const other = await openTestApi(options)
      try {
        expect((await ask({}, other.url)).status).toBe(status)
      } finally {
        await other.close()
      }
    }
  })

  describe('The command `pinrail sandbox`', () => {
    const state = mkdtempSync(join(tmpdir(), 'pinrail-sandbox-'))
    afterAll(() => rmSync(state, { recursive: true, force: true }))
    const run = async (args: readonly string[], env: Record<string, string> = {}) => {
      const child = spawn(process.execPath, ['--import', TSX, COMMAND, ...args], {
        env: { ...process.env, NODE_OPTIONS: '', PINRAIL_URL: testApi.url, XDG_STATE_HOME: state, ...env },
      })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const [out, wrong] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { out, wrong, code: await ended }
    }

    test('its lines are variables with which `logs` reads the requests of the account', async () => {
      const made = await run(['sandbox', '--name', 'By command'])
      expect(made).toMatchObject({ code: 0, wrong: '' })
      const variables = Object.fromEntries(
        made.out
          .split('\n')
          .filter((line) => /^[A-Z_]+=/.test(line))
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      expect(Object.keys(variables)).toEqual(['PINRAIL_URL', 'PINRAIL_API_KEY', 'PINRAIL_WEBHOOK_SECRET'])
      expect(made.out).toMatch(/# Make the account yours before \d{4}-\d\d-\d\d: http\S+\/claim\/\S{43}\n$/)
      const own = createPinrail({ apiKey: variables['PINRAIL_API_KEY'] ?? '', baseUrl: testApi.url })
      const { id } = await own.payments.create({ amount: '10', currency: 'EUR' })
      await own.payments.read(id)
      await Promise.all(writing)
      const printed = await run(['logs', '--once'], variables)
      expect(printed.out.trim().split('\n')).toEqual([
        expect.stringMatching(/ {2}201 {2}POST {2}\/v1\/payments {2}\d+ ms {2}req_/),
        expect.stringContaining(`  200  GET  /v1/payments/${id}  `),
      ])
      const errors = await run(['logs', '--once', '--errors', '--json'], variables)
      expect(errors).toMatchObject({ code: 0, out: '' })
    }, 60_000)

    test('it says what is wrong, and prints no account', async () => {
      expect(await run(['sandbox', '--wallet', '0x12'])).toMatchObject({
        code: 1,
        out: '',
        wrong: expect.stringContaining('wallet'),
      })
      expect(await run(['sandbox'], { PINRAIL_URL: '' })).toMatchObject({ code: 2, out: '' })
    }, 60_000)
  })
})
