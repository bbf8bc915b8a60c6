import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { BOX_KEY, PEPPER, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { aLink } from '../../scripts/test/new-link.ts'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb } from '../../src/db/db.ts'
import { findLink, insertLink } from '../../src/db/links/links.ts'
import { insertReport } from '../../src/db/links/reports.ts'
import { insertChannel, listChannels } from '../../src/db/notifications/channels.ts'
import { insertEndpoint, listEndpoints } from '../../src/db/webhooks/webhook-endpoints.ts'
import type { Attempt } from '../../src/domain/payment/payment-object.ts'
import { newId } from '../../src/ids.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { COMMANDS } from '../../src/operator/commands.ts'
import { changePayment } from '../../src/payments/change-payment.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { insertOwnAddresses } from '../api/support/own-addresses.ts'
import { openTestApi, type TestApi, WALLET } from '../api/support/test-api.ts'
import { type Seeded, seedDatabase } from '../webhooks/seed.ts'

describe('Accounts, payments and webhooks', () => {
  /** The commands about accounts, payments and webhooks, as an operator types them, next to an API that serves them. */
  const OTHER_WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
  const SIGNED = ['--operator', 'ada', '--reason', 'asked for by mail']

  let testApi: TestApi
  let live: TestDatabase
  beforeAll(async () => {
    ;[testApi, live] = await Promise.all([openTestApi(), createTestDatabase()])
  })
  afterAll(async () => {
    await testApi?.close()
    await live?.drop()
  })

  /** The compared fields of the responses. */
  type Fields = {
    merchant: { id: string }
    agreement: { status: string; fee_percent: string; reserve: object }
    key: { id: string; key: string; expires_at: string }
    wallet: { address: string; next_address: string | null; next_at: string }
    actions: { kind: string; operator: string; reason: string }[]
    payments: { id: string }[]
    timeline: object[]
    queries: Record<string, string>
  }
  type Answer = Fields & { readonly code: number; readonly out: string; readonly err: string }

  async function run(env: Record<string, string>, args: readonly string[]): Promise<Answer> {
    let [out, err] = ['', '']
    const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) }
    const code = await runPinrail({ args, env }, streams)
    const fields = args.includes('--json') ? (JSON.parse(out) as Fields) : ({} as Fields)
    return { ...fields, code, out, err }
  }

  const insertPayout = (id: string, { state, reason }: { state: string; reason: string | null }) =>
    testApi.db.query(
      `insert into payout (payment_id, livemode, chain_id, token, treasury, recipient, micro_usdc, auth_nonce, state, stop_reason)
       values ($1, false, 137, $2, $2, $2, 1000000, $3, $4, $5)`,
      [id, `0x${'1'.repeat(40)}`, `0x${randomBytes(32).toString('hex')}`, state, reason],
    )

  const inTest = (...args: string[]): Promise<Answer> =>
    run(
      {
        ...TEST_ENVIRONMENT,
        DATABASE_URL: testApi.databaseUrl,
        TEMPORAL_ADDRESS: testApi.temporal.address,
        TEMPORAL_NAMESPACE: testApi.temporal.namespace,
      },
      args,
    )
  const inLive = (...args: string[]): Promise<Answer> => run({ ...LIVE_ENVIRONMENT, DATABASE_URL: live.url }, args)

  const newMerchant = async (pinrail: typeof inTest): Promise<string> =>
    (await pinrail('merchants', 'create', 'Tea House', ...SIGNED, '--json')).merchant.id

  describe('The help', () => {
    test('the help names every command, and exits with 0', async () => {
      const { code, out } = await inTest('--help')
      expect(code).toBe(0)
      for (const { words, does } of COMMANDS) expect(out).toMatch(new RegExp(`^  ${words} .*  ${does}$`, 'm'))
      expect(out).toContain('Exit codes:')
    })

    test.each(COMMANDS.map(({ words }) => words))('the help of %s shows only its options', async (words) => {
      const { code, out } = await inTest(...words.split(' '), '--help')
      const { options = [] } = COMMANDS.find((command) => command.words === words)!
      expect(code).toBe(0)
      expect(out.match(/^ {2}--(?!json|help)[a-z-]+/gm) ?? []).toHaveLength(options.length)
    })
  })

  test.each([
    [['paymnts', 'find', 'x'], 'pinrail payments find'],
    [['payments', 'fnd'], 'pinrail payments find'],
    [['payments', 'delete', 'x'], 'pinrail payments decide'],
    [['attention-list'], 'See all commands: pinrail --help'],
  ])('an unknown command is named, with the most similar one: %j', async (args, suggestion) => {
    const { code, err } = await inTest(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(`pinrail has no command "${args.join(' ')}".`)])
    expect(err).toContain(suggestion)
  })

  test('lists have heads, and attention has age, amount and merchant', async () => {
    expect((await inTest('merchants', 'list')).out).toMatch(/^merchant +name +status +keys +payments +wallet\n/)
    const { body: made } = await testApi.ask('POST', '/v1/payments', { body: { amount: 12.5, currency: 'EUR' } })
    await testApi.db.query(
      `update payment set status = 'under_review', review_since = now() - interval '3 hours', reviews = $2 where id = $1`,
      [made['id'], JSON.stringify([{ reason: 'too_little', attemptId: null, text: 'The partner has 1.00 EUR' }])],
    )
    const { out } = await inTest('attention')
    expect(out).toMatch(/^age +kind +amount +merchant +payment +attempt +detail\n/)
    expect(out).toMatch(new RegExp(`^3 h +review +12.5 EUR +${testApi.tenant.merchantId} +${String(made['id'])}`, 'm'))
    await testApi.db.query(`update payment set status = 'created', review_since = null, reviews = '[]' where id = $1`, [
      made['id'],
    ])
  })

  test.each([
    [['merchants', 'create', 'Tea House']],
    [['merchants', 'create', 'Tea House', '--operator', 'ada']],
    [['merchants', 'create', 'Tea House', '--operator', ' ', '--reason', 'x']],
    [['merchants', 'list', '--limit', '0']],
    [['merchants', 'list', '--status', 'open']],
    [['payments', 'decide', 'pay_1', 'aprove', ...SIGNED]],
    [['webhooks', 'redeliver', 'we_1', ...SIGNED]],
  ])('a wrong command line exits with 2 and does nothing: %j', async (args) => {
    const before = await testApi.db.query('select count(*) from merchant')
    expect(await inTest(...args)).toMatchObject({ code: 2, out: '' })
    expect((await testApi.db.query('select count(*) from merchant')).rows).toEqual(before.rows)
  })

  describe('an account', () => {
    test('an account is created and takes a payment with commands alone', async () => {
      const merchant = await newMerchant(inTest)
      expect(await inTest('wallets', 'show', merchant)).toMatchObject({ code: 1 })
      expect((await inTest('wallets', 'set', merchant, WALLET, ...SIGNED)).code).toBe(0)
      const { key } = await inTest('keys', 'create', merchant, '--name', 'Till', ...SIGNED, '--json')
      const made = await testApi.ask('POST', '/v1/payments', { key: key.key, body: { amount: 10, currency: 'EUR' } })
      expect(made).toMatchObject({ status: 201 })

      expect(await inTest('payments', 'find', String(made.body['id']))).toMatchObject({ code: 0 })
      const shown = await inTest('merchants', 'show', merchant, '--json')
      expect(shown.actions.map(({ kind }) => kind)).toEqual(['key.created', 'wallet.changed', 'merchant.created'])
      expect(shown.actions[0]).toMatchObject({ operator: 'ada', reason: 'asked for by mail' })
      expect(shown.out).not.toContain(key.key)
      expect((await inTest('merchants', 'list')).out).toContain(merchant)
    })

    test('a revoked key is refused within a second, and a key can have an expiry', async () => {
      const merchant = await newMerchant(inTest)
      const { key } = await inTest('keys', 'create', merchant, '--days', '7', ...SIGNED, '--json')
      expect(Date.parse(key.expires_at) - Date.now()).toBeGreaterThan(6.9 * 86_400_000)
      expect((await inTest('keys', 'revoke', key.id, ...SIGNED)).code).toBe(0)
      expect((await testApi.ask('GET', '/v1/payments', { key: key.key })).status).toBe(401)
      expect((await inTest('keys', 'list', merchant)).out).toContain('expired or revoked')
      expect(await inTest('keys', 'revoke', 'key_000000000000', ...SIGNED)).toMatchObject({ code: 1, out: '' })
    })

    test.each([
      ['a scope that does not exist', ['--scopes', 'payments:steal']],
      ['an address that is none', ['--allowed-ips', 'here']],
      ['a network that is none', ['--allowed-ips', '10.0.0.0/99']],
      ['no address at all', ['--allowed-ips', ',']],
      ['a time of nothing', ['--days', '0']],
    ])('a key is refused with %s', async (_what, options) => {
      const merchant = await newMerchant(inTest)
      expect((await inTest('keys', 'create', merchant, ...options, ...SIGNED)).code).toBe(2)
      expect((await inTest('keys', 'list', merchant)).code).toBe(1)
    })

    test('a wallet without an owner of its key is refused', async () => {
      const merchant = await newMerchant(inTest)
      const refused = await inTest('wallets', 'set', merchant, `0x${'0'.repeat(40)}`, ...SIGNED)
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('whose key somebody has') })
    })

    test('relayers, treasuries and deposit addresses of the platform are refused, in any spelling', async () => {
      const merchant = await newMerchant(inTest)
      for (const own of await insertOwnAddresses(testApi))
        expect(await inTest('wallets', 'set', merchant, own, ...SIGNED)).toMatchObject({
          code: 1,
          err: expect.stringContaining('this one belongs to the platform'),
        })
    })
  })

  describe('The fee of a merchant', () => {
    test('an operator agrees on a fee with a merchant and takes it back, and the log has both', async () => {
      const merchant = await newMerchant(inTest)
      const readFee = async () => (await inTest('merchants', 'show', merchant, '--json')).agreement.fee_percent
      expect(await readFee()).toBe('4.5')
      expect(await inTest('merchants', 'fee', merchant, '3.90', ...SIGNED)).toMatchObject({
        code: 0,
        out: expect.stringContaining('fee: 3.9%'),
      })
      expect(await readFee()).toBe('3.9')
      await inTest('merchants', 'fee', merchant, 'standard', ...SIGNED)
      expect(await readFee()).toBe('4.5')
      const { actions } = await inTest('merchants', 'show', merchant, '--json')
      expect(actions.slice(0, 2)).toMatchObject([
        { kind: 'merchant.fee_changed', data: { fee_percent: null } },
        { kind: 'merchant.fee_changed', data: { fee_percent: '3.9' } },
      ])
    })

    test.each(['51', '4,5', '4.555', '-1', 'free'])('a fee of %s is refused', async (fee) => {
      const refused = await inTest('merchants', 'fee', ...SIGNED, '--', await newMerchant(inTest), fee)
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('the fee must be a percentage') })
    })
  })

  describe('The reserve of a merchant', () => {
    test('an operator agrees on a reserve with a merchant and takes it back, and the log has both', async () => {
      const merchant = await newMerchant(inTest)
      const readReserve = async () => (await inTest('merchants', 'show', merchant, '--json')).agreement.reserve
      expect(await readReserve()).toEqual({ percent: '0', days: 90 })
      const agreed = await inTest('merchants', 'reserve', merchant, '--percent', '10.50', '--days', '30', ...SIGNED)
      expect(agreed).toMatchObject({ code: 0, out: expect.stringContaining('reserve: 10.5% for 30 days') })
      await inTest('merchants', 'reserve', merchant, '--percent', 'standard', ...SIGNED)
      expect(await readReserve()).toEqual({ percent: '0', days: 30 })
      const { actions } = await inTest('merchants', 'show', merchant, '--json')
      expect(actions.slice(0, 2)).toMatchObject([
        { kind: 'merchant.reserve_changed', data: { percent: null } },
        { kind: 'merchant.reserve_changed', data: { percent: '10.5', days: 30 } },
      ])
    })

    test.each([
      [['--percent', '51'], '--percent must be a percentage'],
      [['--days', '0'], '--days must be a whole number'],
      [['--days', '366'], '--days must be a whole number'],
      [[], 'give --percent or --days'],
    ])('a reserve of %j is refused', async (options, why) => {
      const refused = await inTest('merchants', 'reserve', await newMerchant(inTest), ...options, ...SIGNED)
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(why) })
    })
  })

  describe('A live wallet', () => {
    const readWallet = async (merchant: string) => (await inLive('wallets', 'show', merchant, '--json')).wallet
    const age = async (merchant: string, hours: number): Promise<void> => {
      const db = createDb({ url: live.url, livemode: true, pool: 1 })
      const text = `update wallet set next_at = next_at - make_interval(hours => $2) where merchant_id = $1`
      await db.query(text, [merchant, hours])
      await db.close()
    }

    test('a live wallet changes 24 hours after the request, and the merchant is notified at once', async () => {
      const merchant = await newMerchant(inLive)
      await inLive('wallets', 'set', merchant, WALLET, ...SIGNED)
      expect(await readWallet(merchant)).toMatchObject({ address: WALLET, next_address: null })
      const changed = await inLive('wallets', 'set', merchant, OTHER_WALLET, ...SIGNED, '--json')
      expect(changed.wallet).toMatchObject({ address: WALLET, next_address: OTHER_WALLET })
      const waits = Date.parse(changed.wallet.next_at) - Date.now()
      expect(Math.abs(waits - 86_400_000)).toBeLessThan(60_000)
      const db = createDb({ url: live.url, livemode: true, pool: 1 })
      const notices = await db.query(`select kind from notice where merchant_id = $1`, [merchant])
      await db.close()
      expect(notices.rows).toHaveLength(2)

      await age(merchant, 23)
      expect(await readWallet(merchant)).toMatchObject({ address: WALLET, next_address: OTHER_WALLET })
      await age(merchant, 1)
      expect(await readWallet(merchant)).toMatchObject({ address: OTHER_WALLET, next_address: null, next_at: null })
      // A later change takes over an earlier one that had taken effect automatically.
      await inLive('wallets', 'set', merchant, WALLET, ...SIGNED)
      expect(await readWallet(merchant)).toMatchObject({ address: OTHER_WALLET, next_address: WALLET })
    })

    test('a live wallet does not change if the merchant objects in time', async () => {
      const merchant = await newMerchant(inLive)
      await inLive('wallets', 'set', merchant, WALLET, ...SIGNED)
      await inLive('wallets', 'set', merchant, OTHER_WALLET, ...SIGNED)
      expect((await inLive('wallets', 'keep', merchant, ...SIGNED)).code).toBe(0)
      expect(await inLive('wallets', 'keep', merchant, ...SIGNED)).toMatchObject({ code: 1 })
      await age(merchant, 48)
      expect(await readWallet(merchant)).toMatchObject({ address: WALLET, next_address: null })
    })
  })

  describe('webhooks', () => {
    async function endpoint(): Promise<string> {
      const id = newId('endpoint')
      const sealedSecret = testApi.secretBox.seal('whsec_', id)
      const wanted = {
        url: 'https://shop.example',
        description: null,
        enabledEvents: ['payment.succeeded'],
        sealedSecret,
      }
      await insertEndpoint(testApi.db, testApi.tenant, { id, ...wanted })
      return id
    }

    test('webhooks are listed, disabled, found among the failing and enabled', async () => {
      const id = await endpoint()
      expect((await inTest('webhooks', 'list', testApi.tenant.merchantId)).out).toContain(`${id}  ok`)
      expect((await inTest('webhooks', 'disable', id, ...SIGNED)).code).toBe(0)
      expect(await inTest('webhooks', 'failing')).toMatchObject({ code: 1, out: expect.stringContaining(id) })
      expect((await inTest('webhooks', 'redeliver', id, '--since', '2026-01-01T00:00:00Z', ...SIGNED)).code).toBe(1)
      expect((await inTest('webhooks', 'enable', id, ...SIGNED)).code).toBe(0)
      expect((await inTest('webhooks', 'failing')).out).not.toContain(id)
      expect(await inTest('webhooks', 'enable', 'we_nobody', ...SIGNED)).toMatchObject({ code: 1 })
    })

    test('failed deliveries are delivered again, and a single event too', async () => {
      const id = await endpoint()
      const sent = await testApi.ask('POST', `/v1/webhook_endpoints/${id}/test`)
      const event = String(sent.body['event'])
      await testApi.db.query(`update delivery set status = 'exhausted', attempts = 12 where event_id = $1`, [event])
      expect((await inTest('webhooks', 'deliveries', id)).out).toContain('exhausted')
      const all = await inTest('webhooks', 'redeliver', id, '--since', '2026-01-01T00:00:00Z', ...SIGNED, '--json')
      expect(all).toMatchObject({ code: 0, deliveries: [event] })
      expect((await inTest('webhooks', 'deliveries', id, '--status', 'pending')).out).toContain(event)
      expect((await inTest('webhooks', 'redeliver', id, event, ...SIGNED)).code).toBe(0)
      expect((await inTest('webhooks', 'redeliver', id, 'evt_nobody', ...SIGNED)).code).toBe(1)
    })
  })

  describe('a payment', () => {
    test('a payment is found by what somebody reads out, and explained', async () => {
      const body = { amount: 10, currency: 'EUR', reference: 'order-7714' }
      const { body: made } = await testApi.ask('POST', '/v1/payments', { body })
      const id = String(made['id'])
      const token = new URL(String(made['checkout_url'])).pathname.slice('/c/'.length)
      const pasted = [
        id.toUpperCase(),
        `${id}.`,
        String(made['checkout_url']),
        `(${token})`,
        ` order-7714, `,
        `（${String(made['checkout_url'])}）。`,
      ]
      for (const text of [id, 'order-7714', ...pasted])
        expect((await inTest('payments', 'find', text, '--json')).payments).toEqual([expect.objectContaining({ id })])
      await testApi.db.query(
        `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, partner_reference, created_at, updated_at)
         values ('att_7714', $1, 'card_partner', 'card', 'open', 1000, 'EUR', 'Ord-7714b', now(), now())`,
        [id],
      )
      for (const text of ['Ord-7714b', 'ORD-7714B', '「ord-7714b」'])
        expect((await inTest('payments', 'find', text, '--json')).payments).toEqual([expect.objectContaining({ id })])
      expect((await inTest('payments', 'find', WALLET, '--status', 'created')).out).toContain(id)
      expect(await inTest('payments', 'find', 'nothing')).toMatchObject({ code: 1, out: 'no payment found\n' })

      const explained = await inTest('payments', 'explain', 'order-7714', '--json')
      expect(explained).toMatchObject({ code: 0, next_step: 'await_buyer', answers: [{ say: 'hold' }], attention: [] })
      expect(explained.timeline).toMatchObject([{ kind: 'payment.created' }, { kind: 'event.recorded' }])
      expect((await inTest('payments', 'explain', id)).out).toContain('Waiting for the buyer until')
      expect(await inTest('payments', 'explain', 'nothing')).toMatchObject({ code: 1 })
    })

    test('a payment shows the name and the reason of an operator to operators alone', async () => {
      const { body: made } = await testApi.ask('POST', '/v1/payments', { body: { amount: 12, currency: 'EUR' } })
      const id = String(made['id'])
      const data = { operator: 'Ada Lovelace', reason: 'looks like fraud', proof: 'SEPA 0815', attempt_id: 'att_1' }
      const context = { publicUrl: testApi.url, now: Date.now }
      await changePayment(testApi.db, context, {
        id,
        change: (draft) => {
          draft.setPayment({ held: true })
          draft.setCause({ say: 'hold', data: { ...data, outside: false } })
        },
      })
      const entries = (timeline: unknown) =>
        (timeline as { kind: string; data: object }[]).map(({ data }) => data).at(-1)
      expect(entries((await inTest('payments', 'explain', id, '--json')).timeline)).toEqual({ ...data, outside: false })
      expect((await inTest('payments', 'explain', id)).out).toMatch(
        /Z {2}An operator holds the payment \(by Ada Lovelace: looks like fraud; proof: SEPA 0815\)$/m,
      )
      const seen = await testApi.ask('GET', `/v1/payments/${id}/timeline`)
      expect(seen.body['data']).toMatchObject([{}, {}, { message: 'An operator holds the payment' }])
      expect(entries(seen.body['data'])).toEqual({ attempt_id: 'att_1', outside: false })
      const paths = [`/v1/payments/${id}`, '/v1/exports/payments', '/v1/exports/payments?format=csv', '/v1/events']
      for (const path of paths) expect((await testApi.ask('GET', path)).text).not.toMatch(/Lovelace|fraud|SEPA/)
      await changePayment(testApi.db, context, {
        id,
        change: (draft) => {
          const attemptId = newId('attempt')
          draft.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'card', asked: draft.state.payment.amount })
          draft.setAttempt(attemptId, { status: 'paid', held: '1200' })
          draft.setCause({ say: 'hold', data: { ...data, outside: false } })
        },
      })
      expect((await inTest('payments', 'explain', id)).out).toMatch(
        /^pay_\w+ {2}under_review by Ada Lovelace {2}12 EUR/,
      )
    })

    test('a payment is explained with amounts in major units, and with only the accepted commands', async () => {
      const { body: made } = await testApi.ask('POST', '/v1/payments', { body: { amount: 100, currency: 'EUR' } })
      const id = String(made['id'])
      const [usdc, card] = [newId('attempt'), newId('attempt')]
      const context = { publicUrl: testApi.url, now: Date.now }
      await changePayment(testApi.db, context, {
        id,
        change: (draft) => {
          const asked = draft.state.payment.amount
          draft.addAttempt({ id: usdc, provider: 'crypto', method: 'usdc', asked })
          draft.addAttempt({ id: card, provider: 'card_partner', method: 'card', asked })
          draft.setPayment({ closedAs: 'canceled', listenEnded: true })
        },
      })
      const hold = (attemptId: string, facts: Partial<Attempt>) =>
        changePayment(testApi.db, context, { id, change: (draft) => draft.setAttempt(attemptId, facts) })
      await hold(usdc, { status: 'paid', held: '57883248', askedMicro: '115766496' })
      const decide = `decide: pinrail payments decide ${id}`
      const { out } = await inTest('payments', 'explain', id)
      expect(out).toMatch(/Waiting since \S+Z\.\nexcess \(\S+\): 57\.883248 USDC more than the payment needs/)
      expect(out).toContain('the partner has 57.883248 USDC')
      expect(out).not.toMatch(/57883248|give_back --attempt \S+ --version/)
      expect(out).toMatch(
        new RegExp(`${decide} give_back --attempt ${usdc} --outside --proof '<reference>' --version \\d+ --operator`),
      )
      expect(out).toContain('  records that the buyer got 57.883248 USDC from elsewhere')
      expect((await inTest('attention')).out).toMatch(new RegExp(`${id} +${usdc} +excess: 57\\.883248 USDC`))
      await hold(card, { status: 'paid', held: '10000' })
      const both = (await inTest('payments', 'explain', id)).out
      expect(both).toContain(`excess (${card}): 100.00 EUR more than the payment needs`)
      expect(both).toContain(`${decide} give_back --attempt ${card} --version`)
      for (const attempt of [usdc, card]) expect(both).toContain(`give_back --attempt ${attempt} --outside --proof`)
      expect(both).not.toContain(`give_back --attempt ${usdc} --version`)
    })

    test('a payment is found by its link, and by a reference in any Unicode form', async () => {
      const link = await testApi.ask('POST', '/v1/payment_links', {
        body: { title: 'Tea', amount: 9, currency: 'EUR' },
      })
      const url = new URL(String(link.body['url']))
      const press = /name="press" value="([^"]+)"/.exec(
        await (await fetch(`${testApi.url}${url.pathname}`)).text(),
      )?.[1]
      const form = { method: 'POST', body: new URLSearchParams({ press: press ?? '' }), redirect: 'manual' } as const
      expect((await fetch(`${testApi.url}${url.pathname}`, form)).status).toBe(303)
      const { payments } = await inTest('payments', 'find', url.href, '--json')
      expect(payments).toHaveLength(1)
      const body = { amount: 10, currency: 'EUR', reference: 'Caf\u00e9 9' }
      const { body: made } = await testApi.ask('POST', '/v1/payments', { body })
      const found = await inTest('payments', 'find', 'Cafe\u0301 9', '--json')
      expect(found.payments).toMatchObject([{ id: made['id'] }])
    })

    test('a payment whose payout waits for the token says so, and says what settlement waits for', async () => {
      const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })
      const id = String(body['id'])
      await insertPayout(id, { state: 'queued', reason: null })
      await testApi.db.query(
        `insert into settlement_part (chain_id, token, part, reported_at, failing_since, cause, failure)
         values (31337, '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 'signing', now(), now(), 'token_paused',
           'the USDC contract is paused')`,
      )
      expect((await inTest('payments', 'explain', id)).out).toContain('payouts wait: the USDC contract is paused')
      await testApi.db.query('delete from settlement_part')
      expect((await inTest('payments', 'explain', id)).out).not.toContain('payouts wait')
    })

    test('payments whose payouts are stopped for one reason are all retried by one command; a dry run lists them', async () => {
      const { body } = await testApi.ask('POST', '/v1/payments', { body: { amount: 10, currency: 'EUR' } })
      const ids = [1, 2, 3].map(() => newId('payment'))
      // Copies of it, so that none of them has a workflow.
      await testApi.db.query(
        `insert into payment select copy.* from payment p, unnest($2::text[]) as u(id),
           jsonb_populate_record(p, jsonb_build_object('id', u.id, 'checkout_token', u.id)) copy where p.id = $1`,
        [body['id'], ids],
      )
      for (const [at, id] of ids.entries())
        await insertPayout(id, { state: 'stopped', reason: at === 2 ? 'blacklisted' : 'policy' })
      const retry = (...args: string[]) => inTest('payments', 'retry-stopped', ...args, ...SIGNED)
      const dry = await retry('policy', '--dry-run')
      expect(dry.code).toBe(0)
      for (const [at, id] of ids.entries()) expect(dry.out.includes(`would retry ${id}`)).toBe(at < 2)
      const found = await retry('policy')
      expect(found.code).toBe(1)
      for (const id of ids.slice(0, 2)) expect(found.out).toContain(`${id} was not retried: no workflow`)
      expect(found.out).toContain('0 of 2 payments were retried')
      expect(await retry('funds')).toMatchObject({ code: 2 })
    })

    test('an unknown payment cannot be decided', async () => {
      expect(await inTest('payments', 'decide', 'pay_nobody', 'hold', ...SIGNED)).toMatchObject({ code: 1 })
    })
  })

  test('doctor says for each part if it is ok, and what to do about failures', async () => {
    const { code, out } = await inTest('doctor')
    expect(code).toBe(1)
    expect(out).toContain('ok    schema: up to date')
    expect(out).toContain('ok    books:')
    expect(out).toContain('FAIL  workers of payments: no worker polls the queue payments: start one')
    expect(out).toMatch(/FAIL {2}nodes: /)
    expect(out).toMatch(/FAIL {2}settlement: .*\./)
  }, 60_000)

  test('temporal prepare registers the search attributes of its lists, any number of times', async () => {
    for (const round of [1, 2]) {
      const { code, queries } = await inTest('temporal', 'prepare', '--json')
      expect([round, code, queries['waits for an operator']]).toEqual([round, 0, 'NeedsOperator = true'])
    }
    expect((await inTest('doctor')).out).toContain(`ok    temporal: namespace ${testApi.temporal.namespace}`)
  }, 60_000)

  test('trouble exits with 3, also as JSON', async () => {
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
    const answer = await run(env, ['merchants', 'list', '--json'])
    expect(answer).toMatchObject({ code: 3, exit_code: 3, error: expect.stringContaining('127.0.0.1:9') })
  })
})

describe('payment links', () => {
  let seeded: Seeded
  let url: string
  beforeAll(async () => {
    seeded = await seedDatabase()
    url = seeded.url
  })
  afterAll(() => seeded?.close())

  const SIGNED = ['--operator', 'ada', '--reason', 'pretends to be a bank']

  async function pinrail(...args: string[]): Promise<{ code: number; out: string }> {
    let out = ''
    const say = (text: string): void => void (out += text)
    const env = { ...TEST_ENVIRONMENT, DATABASE_URL: url }
    return { code: await runPinrail({ args, env }, { out: say, err: say }), out }
  }

  test('an operator reads the reports, stops the link by its URL, and reverts that; the owner is notified', async () => {
    const { db, tenant } = seeded
    expect(await pinrail('links', 'reports')).toEqual({ code: 0, out: 'nobody has reported a link\n' })
    const { id, code } = await insertLink(db, tenant, aLink({ id: newId('link') }))
    await insertReport(db, id, { reason: 'pretends', details: 'my bank', at: new Date().toISOString() })
    const reports = await pinrail('links', 'reports')
    expect([reports.code, reports.out]).toEqual([1, expect.stringContaining(id)])
    const address = `https://pay.example/l/${code}?amount=5`
    expect((await pinrail('links', 'stop', address)).code).toBe(2)
    expect((await pinrail('links', 'stop', 'https://pay.example/l/0000000000', ...SIGNED)).code).toBe(1)
    expect((await pinrail('links', 'stop', address, ...SIGNED)).code).toBe(0)
    expect(await findLink(db, tenant, id)).toMatchObject({ stoppedReason: 'pretends to be a bank', active: true })
    expect((await pinrail('links', 'stop', code, ...SIGNED)).code).toBe(1)
    expect((await pinrail('links', 'resume', id, ...SIGNED)).code).toBe(0)
    expect(await findLink(db, tenant, id)).toMatchObject({ stoppedAt: null })
    const { rows } = await db.query('select kind from notice order by id')
    expect(rows.map(({ kind }) => kind)).toEqual(['payment_link.stopped', 'payment_link.resumed'])
    const actions = await db.query('select kind, operator from operator_action order by id')
    expect(actions.rows).toEqual([
      { kind: 'payment_link.stopped', operator: 'ada' },
      { kind: 'payment_link.resumed', operator: 'ada' },
    ])
  })
})

describe('Secrets', () => {
  /**
   * The rotation of the pepper and of the key of webhook secrets, with the old ones accepted until nothing needs them.
   */
  const NEW_PEPPER = randomBytes(32).toString('base64')
  const NEW_KEY = randomBytes(32).toString('base64')

  let testApi: TestApi
  const rotated = {
    API_KEY_PEPPER: NEW_PEPPER,
    RETIRED_API_KEY_PEPPERS: PEPPER,
    WEBHOOK_ENCRYPTION_KEY: NEW_KEY,
    RETIRED_WEBHOOK_ENCRYPTION_KEYS: BOX_KEY,
  }
  beforeAll(async () => {
    testApi = await openTestApi({ deps: () => ({ pepper: NEW_PEPPER, retiredPeppers: [PEPPER] }) })
  })
  afterAll(() => testApi?.close())

  async function pinrail(...args: string[]): Promise<{ code: number; text: string }> {
    let text = ''
    const add = (more: string): void => void (text += more)
    const env = { ...TEST_ENVIRONMENT, ...rotated, DATABASE_URL: testApi.databaseUrl }
    return { code: await runPinrail({ args, env }, { out: add, err: add }), text }
  }

  test('a key by the old pepper is accepted, and moves to the new one with its first use', async () => {
    expect((await pinrail('secrets', 'status')).text).toContain('1 key in use has a digest by a retired pepper')
    expect((await testApi.ask('GET', '/v1/payments')).status).toBe(200)
    await testApi.written()
    expect(await pinrail('secrets', 'status')).toMatchObject({
      code: 0,
      text: expect.stringContaining('0 keys in use'),
    })
    const other = await openTestApi({ deps: () => ({ pepper: NEW_PEPPER, retiredPeppers: [] }) })
    try {
      // Without the old pepper a key that was never used since is unknown.
      expect((await other.ask('GET', '/v1/payments')).status).toBe(401)
    } finally {
      await other.close()
    }
  })

  test('secrets reseal moves endpoints and channels from the old key to the new one, and a second time does nothing', async () => {
    const id = newId('endpoint')
    const sealedSecret = createSecretBox(BOX_KEY).seal('whsec_of_old', id)
    const wanted = {
      url: 'https://shop.example',
      description: null,
      enabledEvents: ['payment.succeeded'],
      sealedSecret,
    }
    await insertEndpoint(testApi.db, testApi.tenant, { id, ...wanted })
    const channel = newId('channel')
    const sealed = createSecretBox(BOX_KEY).seal('https://hooks.slack.com/services/T0/B0/secret', channel)
    const [kind, at, quiet] = ['slack', new Date().toISOString(), null] as const
    const named = { kind, name: '#payments', sealed, person_id: null, events: [], language: 'en' as const, quiet, at }
    await insertChannel(testApi.db, testApi.tenant, { id: channel, ...named })
    expect((await pinrail('secrets', 'status')).code).toBe(1)
    const resealed = async (): Promise<string> => (await pinrail('secrets', 'reseal')).text
    expect(await resealed()).toBe('resealed with the current key: 1 webhook endpoint, 1 notification channel\n')
    expect(await resealed()).toBe('resealed with the current key: 0 webhook endpoints, 0 notification channels\n')
    const [stored] = await listChannels(testApi.db, testApi.tenant)
    expect(createSecretBox(NEW_KEY).open(stored?.sealed ?? '', channel)).toBe(
      'https://hooks.slack.com/services/T0/B0/secret',
    )
    const [endpoint] = await listEndpoints(testApi.db, testApi.tenant)
    expect(createSecretBox(NEW_KEY).open(endpoint?.secrets[0]?.sealed ?? '', id)).toBe('whsec_of_old')
    expect(await pinrail('secrets', 'status')).toMatchObject({
      code: 0,
      text: expect.stringContaining('can be removed'),
    })
  })
})
