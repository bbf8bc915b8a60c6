import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { LIVE_ENVIRONMENT } from '../../../../scripts/test/live-environment.ts'
import { until } from '../../../../scripts/test/until.ts'
import { countApplicants } from '../../../../src/db/books.ts'
import { many, one, sql } from '../../../../src/db/db.ts'
import { setWallet } from '../../../../src/db/merchants/wallets.ts'
import type { SignUp } from '../../../../src/domain/account/agreement.ts'
import { runPinrail } from '../../../../src/operator/command.ts'
import { expectProblem, openTestApi, type TestApi, WALLET } from '../../support/test-api.ts'
import { type Account, openAccount } from '../account.ts'
import { signIn, signUp, Visitor } from '../visitor.ts'

/** A live deployment, and its operator at the command line. */
let live: TestApi
beforeAll(async () => {
  live = await openTestApi({ mode: 'live' })
})
afterAll(() => live?.close())

const SIGNED = ['--operator', 'ada', '--reason', 'looked at it']

type Output = { readonly code: number; readonly out: string; readonly err: string }

async function pinrailAt({ databaseUrl }: TestApi, ...args: string[]): Promise<Output> {
  let [out, err] = ['', '']
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) }
  const env = { ...LIVE_ENVIRONMENT, DATABASE_URL: databaseUrl }
  const code = await runPinrail({ args, env }, streams)
  return { code, out, err }
}

const pinrail = (...args: string[]): Promise<Output> => pinrailAt(live, ...args)

const row = z.object({ merchant_id: z.string() })

/** An account as a person creates it: not approved, with a wallet and a key. */
async function newcomer(email: string): Promise<{ owner: Visitor; merchantId: string; key: string }> {
  const owner = await signUp(live, email)
  const { merchant_id: merchantId } = await one(
    live.db,
    row,
    sql`select merchant_id from membership join person on person.id = person_id where email = ${email}`,
  )
  const tenant = { merchantId, livemode: true }
  await setWallet(live.db, tenant, WALLET)
  return { owner, merchantId: tenant.merchantId, key: (await live.addKey(tenant)).key }
}

const pay = (key: string, headers: Record<string, string> = {}) =>
  live.ask('POST', '/v1/payments', { key, headers, body: { amount: '10.00', currency: 'EUR' } })

const listNotices = async (merchantId: string): Promise<string[]> => {
  const rows = await many(
    live.db,
    z.object({ kind: z.string() }),
    sql`select kind from notice where merchant_id = ${merchantId} and kind like 'account.%' order by id`,
  )
  return rows.map(({ kind }) => kind)
}

describe('The approval of a live account', () => {
  test('a new account sets up everything and takes no payments until the operator approves it', async () => {
    const { owner, merchantId, key } = await newcomer('new@shop.example')
    const overview = await owner.get('/dashboard')
    expect(overview.html).toContain('This account takes no payments yet.')
    const refused = await pay(key, { 'idempotency-key': 'first' })
    expectProblem(refused, 403, 'account_not_approved')
    expect(refused.body).toMatchObject({ page: expect.stringContaining('/dashboard/agreement') })
    expect(refused.body['detail']).toContain('Describe what you sell at')

    const link = await live.ask('POST', '/v1/payment_links', {
      key,
      body: { title: 'A link', amount: '10.00', currency: 'EUR' },
    })
    expect(link.status).toBe(201)
    const { pathname } = new URL(String(link.body['url']))
    expect((await new Visitor(live).get(pathname)).html).toContain('This link is closed')

    const form = { web_address: 'https://shop.example', sells: 'Coffee, to people in Norway' }
    expect((await owner.submit('/dashboard/agreement', form)).to).toBe('/dashboard/agreement')
    expect((await owner.get('/dashboard')).html).toContain('The operator is reading your application.')
    expect((await pay(key)).body['detail']).toContain('has not decided')
    expect(await countApplicants(live.db)).toMatchObject([{ count: 1 }])
    const waiting = await pinrail('attention')
    expect(waiting).toMatchObject({ code: 1, out: expect.stringContaining('sells: Coffee, to people in Norway') })
    expect((await pinrail('merchants', 'list', '--status', 'pending')).out).toContain(merchantId)

    expect(await pinrail('merchants', 'approve', merchantId, ...SIGNED)).toMatchObject({ code: 0 })
    const made = await pay(key, { 'idempotency-key': 'first' })
    expect(made.status).toBe(201)
    expect((await owner.get('/dashboard')).html).not.toContain('The operator is reading')
    expect((await new Visitor(live).get(pathname)).html).not.toContain('This link is closed')
    expect(await listNotices(merchantId)).toEqual(['account.approved'])
    expect((await pinrail('attention')).out).not.toContain(merchantId)
    expect(await countApplicants(live.db)).toEqual([{ count: 0, oldest_seconds: 0 }])
    expect(await pinrail('merchants', 'approve', merchantId, ...SIGNED)).toMatchObject({ code: 1 })
  })

  test('a rejected account reads the operator’s message, never the name or the reason, and applies again', async () => {
    const { owner, merchantId, key } = await newcomer('rejected@shop.example')
    const application = { web_address: 'https://shop.example', sells: 'Fireworks' }
    const sent = await live.ask('PUT', '/v1/account/application', { key, body: application })
    expect(sent.body).toMatchObject({ status: 'pending', application })
    expect(await pinrail('merchants', 'reject', merchantId, ...SIGNED)).toMatchObject({ code: 2 })
    const message = ['--message', 'We do not serve sellers of fireworks.']
    expect(await pinrail('merchants', 'reject', merchantId, ...message, ...SIGNED)).toMatchObject({ code: 0 })
    const { html } = await owner.get('/dashboard/agreement')
    expect(html).toContain('We do not serve sellers of fireworks.')
    for (const secret of ['ada', 'looked at it']) expect(html).not.toContain(`>${secret}<`)
    expect((await pay(key)).body['detail']).toContain('We do not serve sellers of fireworks.')
    const again = await live.ask('PUT', '/v1/account/application', { key, body: { ...application, sells: 'Candles' } })
    expect(again.body).toMatchObject({ status: 'pending', status_message: null, application: { sells: 'Candles' } })
    await pinrail('merchants', 'approve', merchantId, ...SIGNED)
    const approved = await live.ask('PUT', '/v1/account/application', { key, body: { ...application, sells: 'Tea' } })
    expect(approved.body).toMatchObject({ status: 'approved', application: { sells: 'Tea' } })
    expect(await listNotices(merchantId)).toEqual(['account.rejected', 'account.approved'])
    await pinrail('merchants', 'suspend', merchantId, ...message, ...SIGNED)
    expectProblem(await live.ask('PUT', '/v1/account/application', { key, body: application }), 409, 'not_possible_now')
  })

  test.each(['\0', '\x1b[2J', '\u202e'])(
    'an address with %j, which deceives whoever reads it in a terminal, is refused',
    async (mark) => {
      const { key } = await live.addMerchant()
      const body = { web_address: `https://shop.example/${mark}x`, sells: 'Candles' }
      expectProblem(await live.ask('PUT', '/v1/account/application', { key, body }), 400, 'validation_failed')
    },
  )

  test('no account gets the name of the platform, from its owner or from the operator', async () => {
    const owner = await signIn(live, 'poser@shop.example')
    const name = 'Quayline-Payments Support'
    const refused = await owner.submit('/dashboard/accounts', { name })
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('name of Quayline Payments')])
    expect(await pinrail('merchants', 'create', name, ...SIGNED)).toMatchObject({
      code: 2,
      err: expect.stringContaining('name of Quayline Payments'),
    })
  })

  test('an application without an address is refused with what to write, and keeps what was typed', async () => {
    const { owner } = await newcomer('careless@shop.example')
    const refused = await owner.submit('/dashboard/agreement', { web_address: 'my shop', sells: 'Candles' })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('such as https://shop.example')
    expect(refused.html).toContain('>Candles</textarea>')
    const lines = { web_address: 'https://shop.example', sells: 'Candles,\r\nto people in Norway' }
    await owner.submit('/dashboard/agreement', lines)
    expect((await owner.get('/dashboard/agreement')).html).toContain('Candles, to people in Norway')
  })

  test('a merchant that the operator has created takes payments at once', async () => {
    const created = await pinrail('merchants', 'create', 'Tea House', ...SIGNED, '--json')
    const { id } = (JSON.parse(created.out) as { merchant: { id: string } }).merchant
    await setWallet(live.db, { merchantId: id, livemode: true }, WALLET)
    const { key } = await live.addKey({ merchantId: id, livemode: true })
    expect((await pay(key)).status).toBe(201)
  })
})

describe('The suspension of a merchant', () => {
  let account: Account
  let path: string
  beforeAll(async () => {
    account = await openAccount(live, 'suspended@shop.example')
    const body = { title: 'A link', currency: 'EUR', amount: '10.00', inactive_message: 'Write to me instead.' }
    const { url } = (await live.ask('POST', '/v1/payment_links', { key: account.key, body })).body as { url: string }
    path = new URL(url).pathname
  })

  test('a suspended merchant gets no payment by key, dashboard or link, reads why, and resumes', async () => {
    const { owner, key, tenant } = account
    const before = await pay(key, { 'idempotency-key': 'before' })
    const why = ['--message', 'Too many chargebacks.']
    expect(await pinrail('merchants', 'suspend', tenant.merchantId, ...why, ...SIGNED)).toMatchObject({ code: 0 })
    const refused = await pay(key)
    expectProblem(refused, 403, 'account_suspended')
    expect(refused.body['detail']).toContain('Too many chargebacks.')
    // The answer to an earlier request stays.
    expect((await pay(key, { 'idempotency-key': 'before' })).body['id']).toBe(before.body['id'])
    const form = { amount: '10.00', currency: 'EUR', once: 'suspended' }
    expect((await owner.submit('/dashboard/payments', form)).html).toContain('The operator has suspended the account.')
    const shown = (await new Visitor(live).get(path)).html
    expect(shown).toContain('This link was stopped')
    expect(shown).not.toContain('Write to me instead.')
    const pressed = await new Visitor(live).post(path, { press: 'p'.repeat(22) })
    expect(pressed.status).toBe(409)
    const { html } = await owner.get('/dashboard')
    expect(html).toContain('This account is suspended.')
    expect(html).toContain('Too many chargebacks.')
    expect((await live.ask('GET', '/v1/account', { key })).body).toMatchObject({
      status: 'suspended',
      status_message: 'Too many chargebacks.',
      payouts_held: false,
    })
    const withPayouts = ['--hold-payouts', ...why, ...SIGNED]
    expect(await pinrail('merchants', 'suspend', tenant.merchantId, ...withPayouts)).toMatchObject({ code: 0 })
    const isHeld = async () => (await live.ask('GET', '/v1/account', { key })).body['payouts_held']
    expect((await owner.get('/dashboard')).html).toContain('Payouts wait until the account is active again.')
    // Another message lets no money go.
    expect(await pinrail('merchants', 'suspend', tenant.merchantId, ...why, ...SIGNED)).toMatchObject({ code: 0 })
    expect(await isHeld()).toBe(true)
    const both = ['--hold-payouts', '--release-payouts', ...why, ...SIGNED]
    expect(await pinrail('merchants', 'suspend', tenant.merchantId, ...both)).toMatchObject({ code: 2 })
    await pinrail('merchants', 'suspend', tenant.merchantId, '--release-payouts', ...why, ...SIGNED)
    expect(await isHeld()).toBe(false)
    await pinrail('merchants', 'suspend', tenant.merchantId, ...withPayouts)
    expect(await pinrail('merchants', 'resume', tenant.merchantId, ...SIGNED)).toMatchObject({ code: 0 })
    expect((await pay(key)).status).toBe(201)
    expect((await owner.get('/dashboard')).html).not.toContain('Too many chargebacks.')
    const { out } = await pinrail('merchants', 'show', tenant.merchantId)
    for (const kind of ['merchant.suspended', 'merchant.resumed']) expect(out).toContain(`${kind} by ada: looked at it`)
    expect((await listNotices(tenant.merchantId)).at(-1)).toBe('account.resumed')
  })

  test('a payment that waits while its merchant is suspended is not created, and claims no key', async () => {
    const { key, tenant } = account
    const count = async () =>
      (await live.db.query('select count(*)::int as n from payment where merchant_id = $1', [tenant.merchantId]))
        .rows[0].n
    const before = await count()
    const asked = await live.db.transaction(async (tx) => {
      await tx.query(`update agreement set status = 'suspended' where merchant_id = $1`, [tenant.merchantId])
      // Its statement has begun, and sees an approved merchant until the commit below.
      const answer = pay(key, { 'idempotency-key': 'waits' })
      await until(
        async () =>
          (
            await live.db.query(`select count(*)::int as n from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`)
          ).rows[0].n as number,
        (waiting) => waiting > 0,
      )
      return { answer }
    })
    expectProblem(await asked.answer, 403, 'account_suspended')
    expect(await count()).toBe(before)
    await pinrail('merchants', 'resume', tenant.merchantId, ...SIGNED)
    expect((await pay(key, { 'idempotency-key': 'waits' })).status).toBe(201)
  })

  test('a merchant’s own session in the database cannot approve it, nor raise its limits', async () => {
    const session = live.db.as(account.tenant)
    await live.db.query(`update agreement set status = 'suspended' where merchant_id = $1`, [account.tenant.merchantId])
    for (const status of ['approved', 'pending'])
      await expect(session.query(`update agreement set status = '${status}'`)).rejects.toThrow('does not decide')
    for (const change of ['open_limit = 99', 'fee_percent = 0', 'holds_payouts = false', 'open_payments = 0'])
      await expect(session.query(`update agreement set ${change}`)).rejects.toThrow('permission denied')
    await live.db.query(`update agreement set status = 'approved' where merchant_id = $1`, [account.tenant.merchantId])
  })
})

describe('Signing up', () => {
  const at = async (signUpMode: SignUp, work: (api: TestApi) => Promise<void>): Promise<void> => {
    const api = await openTestApi({ mode: 'live', deps: () => ({ signUp: signUpMode }) })
    try {
      await work(api)
    } finally {
      await api.close()
    }
  }
  const countAccounts = async ({ db }: TestApi, email: string): Promise<number> =>
    (
      await many(
        db,
        row,
        sql`select merchant_id from membership join person on person.id = person_id where email = ${email}`,
      )
    ).length

  test('nobody creates an account where sign-up is closed, invited or not', () =>
    at('closed', async (api) => {
      const signInPage = (await new Visitor(api).get('/sign-in')).html
      expect(signInPage).not.toContain('free account')
      await pinrailAt(api, 'merchants', 'invite', 'closed@shop.example', ...SIGNED)
      const visitor = await signIn(api, 'closed@shop.example')
      const { html } = await visitor.get('/dashboard/welcome')
      expect(html).toContain('New accounts are closed.')
      expect(html).not.toContain('Name of your shop')
      const form = { _form: /name="_form" value="([^"]+)"/.exec(html)?.[1] ?? '', name: 'Tea House' }
      const refused = await visitor.post('/dashboard/accounts', form)
      expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('New accounts are closed.')])
      expect(await countAccounts(api, 'closed@shop.example')).toBe(0)
    }))

  test('an invited address creates one account, once, until its invitation ends; other addresses create none', () =>
    at('invited', async (api) => {
      const { out, code } = await pinrailAt(api, 'merchants', 'invite', 'Guest@Shop.example', ...SIGNED)
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^guest@shop\.example can create one account within 14 days/),
      ])
      expect(out).toContain('/sign-in?to=%2Fdashboard%2Fwelcome')
      await signUp(api, 'stranger@shop.example')
      expect(await countAccounts(api, 'stranger@shop.example')).toBe(0)
      const guest = await signUp(api, 'guest@shop.example')
      expect(await countAccounts(api, 'guest@shop.example')).toBe(1)
      await guest.submit('/dashboard/accounts', { name: 'A second one' })
      expect(await countAccounts(api, 'guest@shop.example')).toBe(1)

      await pinrailAt(api, 'merchants', 'invite', 'late@shop.example', ...SIGNED)
      await api.db.query(`update merchant_invitation set expires_at = now() where email = 'late@shop.example'`)
      await signUp(api, 'late@shop.example')
      expect(await countAccounts(api, 'late@shop.example')).toBe(0)
    }))
})

describe('Links without an account', () => {
  test('none can be made where they are switched off, and those that exist are closed until an account has them', async () => {
    const off = await openTestApi({ mode: 'live', deps: () => ({ linksWithoutAccount: false }) })
    try {
      const { key } = await off.addMerchant()
      const body = { title: 'A link', amount: '10.00', currency: 'EUR' }
      const made = await off.ask('POST', '/v1/payment_links', { key, body })
      const { pathname } = new URL(String(made.body['url']))
      const setAnonymous = (anonymous: boolean) =>
        off.db.query('update payment_link set anonymous = $2 where id = $1', [made.body['id'], anonymous])
      await setAnonymous(true)
      const visitor = new Visitor(off)
      const form = await visitor.get('/links')
      expect([form.status, form.html]).toEqual([404, expect.stringContaining('Payment links need an account here')])
      expect((await visitor.post('/links', { title: 'x' })).status).toBe(404)
      expect((await visitor.get('/')).html).not.toContain('Create a link without an account')
      expect((await visitor.get('/links/report')).status).toBe(200)
      expect((await visitor.get(pathname)).html).toContain('This link was stopped')
      expect((await visitor.post(pathname, { press: 'p'.repeat(22) })).status).toBe(409)
      await setAnonymous(false)
      expect((await visitor.get(pathname)).html).not.toContain('This link was stopped')
      expect((await visitor.post(pathname, { press: 'q'.repeat(22) })).status).toBe(303)
    } finally {
      await off.close()
    }
  })
})
