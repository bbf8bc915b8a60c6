import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newPayment } from '../../../scripts/test/new-payment.ts'
import { createRequestLimits } from '../../../src/api/limits/request-limits.ts'
import { insertPayment } from '../../../src/db/payments/payments.ts'
import { newId } from '../../../src/ids.ts'
import { NO_LIMITS } from '../support/limits.ts'
import { expectProblem, openTestApi, type TestApi, WALLET } from '../support/test-api.ts'

let limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 } })
let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi({
    deps: ({ limits: usual }) => ({
      limits: {
        ...usual,
        countPress: (...of) => limits.countPress(...of),
        countForm: (...of) => limits.countForm(...of),
      },
    }),
  })
})
afterAll(() => testApi?.close())

describe('The API of links', () => {
  type Fields = Record<string, unknown>
  const BOX = { title: 'October tasting box', amount: 64, currency: 'EUR' }
  const create = (fields: Fields = {}) => testApi.ask('POST', '/v1/payment_links', { body: { ...BOX, ...fields } })
  const change = (id: unknown, body: Fields) => testApi.ask('PATCH', `/v1/payment_links/${String(id)}`, { body })

  describe('a payment link', () => {
    test('a payment link is created, read, listed, changed and paused', async () => {
      const made = await create({ reference: 'box-1', max_payments: 50, metadata: { season: '10' } })
      expect(made.status).toBe(201)
      const { id, code } = made.body
      expect(made.headers.get('location')).toBe(`/v1/payment_links/${String(id)}`)
      expect(made.body).toMatchObject({
        object: 'payment_link',
        active: true,
        status: 'active',
        amount: 64,
        min_amount: null,
        payments_count: 0,
        wallet: null,
        created_via: 'api',
        url: expect.stringMatching(new RegExp(`/l/${String(code)}$`)),
      })
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).body).toEqual(made.body)
      for (const query of ['reference=box-1', 'search=TASTING', `search=${String(code)}`, 'active=true'])
        expect([query, (await testApi.ask('GET', `/v1/payment_links?${query}`)).body['data']]).toEqual([
          query,
          [made.body],
        ])
      const changed = await change(id, { title: 'November', max_payments: null, inactive_message: 'Back soon' })
      expect(changed.body).toMatchObject({ title: 'November', max_payments: null, amount: 64, reference: 'box-1' })
      const paused = await testApi.ask('POST', `/v1/payment_links/${String(id)}/deactivate`)
      expect(paused.body).toMatchObject({ active: false, status: 'paused' })
      expect((await testApi.ask('GET', '/v1/payment_links?active=true')).body['data']).toEqual([])
      expect((await change(id, { active: true })).body).toMatchObject({ active: true, status: 'active' })
    })

    test('a payment link is complete when its limit is lowered to its paid payments, and announces that once', async () => {
      const { id } = (await create()).body
      for (const paid of [newId('payment'), newId('payment')]) {
        const payment = { ...newPayment({ id: paid, createdAt: new Date().toISOString() }), paymentLink: String(id) }
        await insertPayment(testApi.db, testApi.tenant, { payment, claim: null, publicUrl: testApi.url })
      }
      await testApi.db.query("update payment set status = 'succeeded' where payment_link = $1", [id])
      expect((await change(id, { max_payments: 3 })).body).toMatchObject({ status: 'active', completed_at: null })
      const lowered = await change(id, { max_payments: 2 })
      expect(lowered.body).toMatchObject({ status: 'sold_out', completed_at: expect.any(String) })
      await change(id, { max_payments: 1 })
      const events = await testApi.ask('GET', '/v1/events?type=payment_link.completed')
      const objects = (events.body['data'] as { data: { object: Fields } }[]).map(({ data }) => data.object)
      expect(objects.filter((object) => object['id'] === id)).toEqual([
        { ...lowered.body, updated_at: expect.any(String) },
      ])
    })

    test('a payment link is found by a reference and a title in any form of Unicode', async () => {
      const made = await create({ title: 'Käse-Büfett', reference: 'Ångström-7'.normalize('NFD') })
      const asked = ['reference=Ångström-7', 'search=Ångström', 'search=Käse-B']
      for (const query of asked.flatMap((text) => [text.normalize('NFC'), text.normalize('NFD')]))
        expect([query, (await testApi.ask('GET', `/v1/payment_links?${encodeURI(query)}`)).body['data']]).toEqual([
          query,
          [expect.objectContaining({ id: made.body['id'] })],
        ])
    })

    test('a payment link can leave the amount to the buyer, within bounds', async () => {
      const tips = { title: 'Tip jar', amount: undefined, prefill: ['amount', 'amount'] }
      expect((await create(tips)).body).toMatchObject({ amount: null, min_amount: null, prefill: ['amount'] })
      expect((await create({ ...tips, min_amount: '2.5', max_amount: 80 })).body).toMatchObject({
        min_amount: 2.5,
        max_amount: 80,
      })
    })

    test.each([
      ['a fixed amount with bounds', { min_amount: 5 }, 'validation_failed', 400],
      ['a fixed amount that a query may fill in', { prefill: ['amount'] }, 'validation_failed', 400],
      ['bounds the wrong way around', { amount: undefined, min_amount: 80, max_amount: 5 }, 'validation_failed', 400],
      ['too many decimals', { currency: 'JPY', amount: '640.5' }, 'validation_failed', 400],
      ['an amount below the least of its method', { amount: 5, provider: 'wallet_app' }, 'amount_too_small', 422],
      ['a bound above the most of any', { amount: undefined, max_amount: 9_000_000 }, 'amount_too_large', 422],
      [
        'a currency that its method does not take',
        { currency: 'JPY', provider: 'card_partner' },
        'currency_not_supported',
        422,
      ],
      ['a separate wallet', { wallet: `0x${'1'.repeat(40)}` }, 'validation_failed', 400],
      ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'validation_failed', 400],
      ['no title', { title: undefined }, 'validation_failed', 400],
      ['a number as prefill', { prefill: 1 }, 'validation_failed', 400],
    ])('a payment link is refused: %s', async (_what, fields, code, status) => {
      expectProblem(await create(fields as Fields), status, code)
    })

    test('a payment link cannot be changed to an end in the past, and stays as it is', async () => {
      const { id } = (await create()).body
      expectProblem(await change(id, { expires_at: '2020-01-01T00:00:00Z' }), 400, 'validation_failed')
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).body).toMatchObject({
        expires_at: null,
        status: 'active',
      })
    })

    test('a refused payment link names the bound', async () => {
      const refused = await create({ amount: undefined, max_amount: 9_000_000 })
      expect(refused.body['param']).toBe('max_amount')
    })

    test('a payment link needs a wallet that its payments go to', async () => {
      const { key } = await testApi.addMerchant({ wallet: null })
      expectProblem(await testApi.ask('POST', '/v1/payment_links', { body: BOX, key }), 422, 'wallet_not_configured')
    })

    test('a payment link is not created twice with one Idempotency-Key, also if the second request arrives during the first', async () => {
      const once = () =>
        testApi.ask('POST', '/v1/payment_links', {
          body: { ...BOX, reference: 'once' },
          headers: { 'idempotency-key': 'l1' },
        })
      const answers = await Promise.all([once(), once(), once()])
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect((await testApi.ask('GET', '/v1/payment_links?reference=once')).body['data']).toHaveLength(1)
    })

    test('an owner cannot activate a link that an operator has stopped', async () => {
      const { id } = (await create()).body
      await testApi.db.query("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where id = $1", [id])
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).body).toMatchObject({
        active: false,
        status: 'stopped',
      })
      expectProblem(await change(id, { active: true }), 409, 'not_possible_now')
      expect((await change(id, { title: 'Still mine' })).status).toBe(200)
    })

    test('a payment link is shown as expired once its end is over', async () => {
      const { id } = (await create({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })).body
      await testApi.db.query("update payment_link set expires_at = now() - interval '1 second' where id = $1", [id])
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).body['status']).toBe('expired')
    })

    test('a payment link finds its payments in the list of payments, and they name the link', async () => {
      const { id } = (await create()).body
      const payment = await testApi.ask('POST', '/v1/payments', { body: { amount: 64, currency: 'EUR' } })
      await testApi.ask('POST', '/v1/payments', { body: { amount: 64, currency: 'EUR' } })
      await testApi.db.query('alter table payment disable trigger payment_keeps_its_link')
      await testApi.db.query('update payment set payment_link = $1 where id = $2', [id, payment.body['id']])
      await testApi.db.query('alter table payment enable trigger payment_keeps_its_link')
      const listed = (await testApi.ask('GET', `/v1/payments?payment_link=${String(id)}`)).body['data'] as Fields[]
      expect(listed.map((one) => [one['id'], one['payment_link']])).toEqual([[payment.body['id'], id]])
      expect((await testApi.ask('GET', `/v1/payment_links/${String(id)}`)).body['payments_count']).toBe(1)
    })

    test('a payment link can end at the last representable time, in any time zone', async () => {
      for (const end of ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59Z'])
        expect((await create({ expires_at: end })).body['expires_at']).toMatch(/^9999-12-31T23:59:59/)
    })
  })
})

describe('The page of a link', () => {
  beforeAll(async () => {
    testApi = await testApi.asNewMerchant()
  }, 60_000)

  type Fields = Record<string, unknown>

  async function link(fields: Fields = {}): Promise<{ id: string; path: string }> {
    const body = { title: 'Tasting box', amount: 64, currency: 'EUR', ...fields }
    const made = await testApi.ask('POST', '/v1/payment_links', { body })
    if (made.status !== 201) throw new Error(made.text)
    return { id: String(made.body['id']), path: `/l/${String(made.body['code'])}` }
  }

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${testApi.url}${path}`, { headers, redirect: 'manual' })
  const page = async (path: string) => (await get(path)).text()
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${testApi.url}${path}`, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' })

  /** The press of a page, which differs each time. */
  const getPress = (html: string): string => /name="press" value="([\w-]{22})"/.exec(html)?.[1] ?? ''
  const press = async (path: string, form: Record<string, string> = {}) =>
    post(path, { press: getPress(await page(path)), ...form })

  const listPayments = async (id: string): Promise<Fields[]> =>
    (await testApi.db.query('select * from payment where payment_link = $1 order by id', [id])).rows

  describe('the page of a link', () => {
    test('the page of a link says what is paid and to whom, has a preview for chats, is hidden from search engines, and makes nothing', async () => {
      const { id, path } = await link({ description: 'Three coffees' })
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetch(`${testApi.url}${path}`, { method })
        expect([answer.status, answer.headers.get('x-robots-tag')]).toEqual([200, 'noindex, nofollow'])
      }
      const html = await page(path)
      expect(html).toContain('<title>Pay €64.00 to Test Shop</title>')
      expect(html).toContain('<meta name="robots" content="noindex"')
      expect(html).toContain('<meta property="og:title" content="Tasting box, €64.00"')
      expect(html).toContain('Three coffees')
      expect(await listPayments(id)).toEqual([])
      expect((await get(path, { 'accept-language': 'de' })).headers.get('content-language')).toBe('de')
    })

    test('the page of a link makes a payment when it is pressed, and leads to its checkout', async () => {
      const success_url = 'https://shop.example/thanks?p={PAYMENT_ID}'
      const { id, path } = await link({ reference: 'box', metadata: { a: '1' }, provider: 'card_partner', success_url })
      const answer = await press(path)
      expect(answer.status).toBe(303)
      const [payment] = await listPayments(id)
      expect(answer.headers.get('location')).toBe(`/c/${String(payment?.['checkout_token'])}`)
      expect(payment).toMatchObject({
        amount_minor: '6400',
        provider: 'card_partner',
        description: 'Tasting box',
        reference: 'box',
        metadata: { a: '1' },
        destination: WALLET,
        success_url: `https://shop.example/thanks?p=${String(payment?.['id'])}`,
      })
      // A pinned link opens the step of its method.
      expect(await page(String(answer.headers.get('location')))).toContain('data-page="confirm"')
    })

    test('one press makes one payment, however often and how fast it is sent', async () => {
      const { id, path } = await link()
      const form = { press: getPress(await page(path)) }
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(path, form)))
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
      expect((await post(path, form)).headers.get('location')).toBe(answers[0]?.headers.get('location'))
      expect(await listPayments(id)).toHaveLength(1)
      expect((await press(path)).status).toBe(303)
      expect(await listPayments(id)).toHaveLength(2)
    })

    test('a link with ten places makes ten payments of fifty presses at the same time', async () => {
      const { id, path } = await link({ max_payments: 10 })
      const forms = await Promise.all(Array.from({ length: 50 }, async () => ({ press: getPress(await page(path)) })))
      const answers = await Promise.all(forms.map((form) => post(path, form)))
      const counts = (status: number) => answers.filter((answer) => answer.status === status).length
      expect([counts(303), counts(409)]).toEqual([10, 40])
      expect(await listPayments(id)).toHaveLength(10)
      expect(await page(path)).toContain('No places left')
      // A buyer who pressed before is led to their own payment, and a place that is released can be taken.
      const first = answers.findIndex(({ status }) => status === 303)
      expect((await post(path, forms[first]!)).status).toBe(303)
      await testApi.db.query(
        "update payment set status = 'canceled' where id = (select min(id) from payment where payment_link = $1)",
        [id],
      )
      const again = [getPress(await page(path)), getPress(await page(path))]
      const statuses = []
      for (const name of again) statuses.push((await post(path, { press: name })).status)
      expect(statuses).toEqual([303, 409])
    })

    test('a payment occupies a place for half an hour if places are limited', async () => {
      const minutes = async (fields: Fields): Promise<number> => {
        const { id, path } = await link(fields)
        await press(path)
        const { rows } = await testApi.db.query(
          'select extract(epoch from expires_at - created_at)::int / 60 as minutes from payment where payment_link = $1',
          [id],
        )
        return rows[0].minutes
      }
      expect([await minutes({ max_payments: 5 }), await minutes({})]).toEqual([30, 1440])
    })

    /** Writes as if the buyer had pressed this many minutes ago and not continued since. */
    const ago = (id: string, minutes: number) =>
      testApi.db.query(
        `update payment set created_at = created_at - $2 * interval '1 minute',
           expires_at = expires_at - $2 * interval '1 minute' where payment_link = $1`,
        [id, minutes],
      )
    const readStatuses = async (id: string) => (await listPayments(id)).map(({ status }) => status)
    const readCookie = (answer: Response): string =>
      answer.headers
        .getSetCookie()
        .filter((cookie) => cookie.startsWith('pinrail_payment='))
        .map((cookie) => cookie.split(';')[0])
        .join('')

    test('a link with one place leads a buyer who goes back or opens it again to the open payment', async () => {
      const { id, path } = await link({ max_payments: 1 })
      const before = getPress(await page(path))
      const pressed = await post(path, { press: before })
      const checkout = pressed.headers.get('location')
      const cookie = readCookie(pressed)
      expect(pressed.headers.getSetCookie().join()).toContain(`; Path=${path}; Max-Age=604800; HttpOnly; SameSite=Lax`)
      const again = await get(path, { cookie })
      expect([again.status, again.headers.get('location')]).toEqual([303, checkout])
      const kept = await post(path, { press: 'A'.repeat(22) }, { cookie })
      expect([kept.status, kept.headers.get('location')]).toEqual([303, checkout])
      expect(await page(path)).toContain('No places left')
      await testApi.db.query("update payment set status = 'canceled' where payment_link = $1", [id])
      expect((await get(path, { cookie })).status).toBe(200)
    })

    test('a link with places left can be pressed again by the same buyer, and leads to the open payment when it is full', async () => {
      const { path } = await link({ max_payments: 2 })
      const cookie = readCookie(await press(path))
      expect((await get(path, { cookie })).status).toBe(200)
      await press(path)
      expect((await get(path, { cookie })).status).toBe(303)
    })

    test('the cookie of a link leads to no payment from another link', async () => {
      const [one, other] = [await link({ max_payments: 1 }), await link({ max_payments: 1 })]
      const cookie = readCookie(await press(one.path))
      expect((await get(other.path, { cookie })).status).toBe(200)
    })

    test('a payment that its buyer does not continue releases its place after five minutes, and not before', async () => {
      const { id, path } = await link({ max_payments: 1 })
      await press(path)
      await ago(id, 4)
      expect(await page(path)).toContain('No places left')
      await ago(id, 2)
      expect((await press(path)).status).toBe(303)
      expect(await readStatuses(id)).toEqual(['expired', 'created'])
      expect(await page(path)).toContain('No places left')
    })

    test('a payment keeps its place if the buyer continued, however long ago', async () => {
      const { id, path } = await link({ max_payments: 1 })
      await press(path)
      await ago(id, 20)
      const before = getPress(await page(path))
      await testApi.db.query("update payment set status = 'pending' where payment_link = $1", [id])
      expect((await post(path, { press: before })).status).toBe(409)
      expect(await readStatuses(id)).toEqual(['pending'])
    })

    test('fifty presses at the same time make no more payments than places, although other payments release theirs', async () => {
      const { id, path } = await link({ max_payments: 3 })
      for (let time = 0; time < 3; time++) await press(path)
      await ago(id, 10)
      const forms = await Promise.all(Array.from({ length: 50 }, async () => ({ press: getPress(await page(path)) })))
      const answers = await Promise.all(forms.map((form) => post(path, form)))
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(3)
      const statuses = await readStatuses(id)
      expect([statuses.filter((one) => one === 'expired'), statuses.filter((one) => one === 'created')]).toEqual([
        ['expired', 'expired', 'expired'],
        ['created', 'created', 'created'],
      ])
    })

    test('a payment releases its place only if another buyer needs it', async () => {
      const { id, path } = await link({ max_payments: 3 })
      for (let time = 0; time < 2; time++) await press(path)
      await ago(id, 10)
      expect((await press(path)).status).toBe(303)
      expect(await readStatuses(id)).toEqual(['created', 'created', 'created'])
      await press(path)
      expect((await readStatuses(id)).filter((one) => one === 'expired')).toHaveLength(1)
    })

    test('the page of a link refuses a press from another site, and one without its hidden field', async () => {
      const { id, path } = await link()
      const form = { press: getPress(await page(path)) }
      const forged: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'null' },
      ]
      for (const headers of forged) expect([headers, (await post(path, form, headers)).status]).toEqual([headers, 403])
      for (const wrong of [{}, { press: '' }, { press: 'x'.repeat(23) }, { press: "' or 1=1; select 1--" }])
        expect([wrong, (await post(path, wrong as Record<string, string>)).status]).toEqual([wrong, 400])
      expect((await fetch(`${testApi.url}${path}`, { method: 'PUT' })).status).toBe(405)
      expect(await listPayments(id)).toEqual([])
    })
  })

  describe('A link whose buyer sets the amount', () => {
    const tips = { title: 'Tip jar', amount: undefined, min_amount: 5, max_amount: 50 }

    test('a link accepts an amount within its bounds, with a point or a comma', async () => {
      const { id, path } = await link(tips)
      for (const amount of ['5', '50.00', ' 12,5 ', '€12.50', '٥٠', '12,50 EUR'])
        expect([amount, (await press(path, { amount })).status]).toEqual([amount, 303])
      expect((await listPayments(id)).map((payment) => payment['amount_minor'])).toEqual([
        '500',
        '5000',
        '1250',
        '1250',
        '5000',
        '1250',
      ])
    })

    test('a link checks the amount again on a page from the browser’s cache', async () => {
      const { id, path } = await link(tips)
      const form = { press: getPress(await page(path)) }
      for (const amount of ['10', '10', '20']) await post(path, { ...form, amount })
      expect((await listPayments(id)).map((payment) => payment['amount_minor'])).toEqual(['1000', '2000'])
    })

    test.each([
      ['4.99', 'The minimum here is €5.00.'],
      ['50.01', 'The maximum here is €50.00.'],
      ['999999999999', 'The maximum here is'],
      ['9'.repeat(40), 'Enter an amount'],
      ['1e1', 'Enter an amount'],
      ['-10', 'Enter an amount'],
      ['10.0001', 'Enter an amount'],
      ['1.250', 'For €1,250.00, enter 1250.00.'],
      ['1,250', 'For €1,250.00, enter 1250.00.'],
      ['$12', 'Enter an amount'],
      ['', 'Enter an amount'],
      ['"><script>alert(1)</script>', 'Enter an amount'],
    ])('a link refuses %s in words, and makes nothing', async (amount, words) => {
      const { id, path } = await link(tips)
      const answer = await press(path, { amount })
      const html = await answer.text()
      expect([answer.status, html.includes(words), html.includes('<script>alert')]).toEqual([422, true, false])
      expect(await listPayments(id)).toEqual([])
    })

    test('a link shows its bounds first, in its currency, and accepts each as the page shows it', async () => {
      const { path } = await link({ ...tips, min_amount: 5, max_amount: undefined })
      const shown = /id="amount-h"[^>]*>([^<]*)</.exec(await page(path))?.[1] ?? ''
      // The highest maximum of any method is 10,000 USD, which are 8,000 EUR.
      expect(shown).toBe('€5.00 to €8,000.00')
      for (const amount of shown.split(' to '))
        expect([amount, (await press(path, { amount })).status]).toEqual([amount, 303])
      expect(await (await press(path, { amount: '8000.01' })).text()).toContain('The maximum here is €8,000.00.')
    })

    test('a link without bounds has those of the method', async () => {
      const { path } = await link({ ...tips, min_amount: undefined, max_amount: undefined, provider: 'wallet_app' })
      expect(await (await press(path, { amount: '5' })).text()).toContain('The minimum here is €6.00.')
    })
  })

  describe('the query of the address', () => {
    test('the query fills in only what the link allows', async () => {
      const open = await link({ amount: undefined, prefill: ['amount', 'reference'] })
      for (const typed of ['12,50 €', '١٢٫٥', '%E2%82%AC12.50'])
        expect([typed, (await page(`${open.path}?amount=${typed}`)).includes('value="12.50"')]).toEqual([typed, true])
      for (const typed of ['1.250', '$12', '-1', 'x'])
        expect([typed, /name="amount"[^>]* value="[^"]/.test(await page(`${open.path}?amount=${typed}`))]).toEqual([
          typed,
          false,
        ])
      const shown = await page(`${open.path}?amount=12.50&reference=A-17&press=stolen&wallet=0x1`)
      expect(shown).toContain('value="12.50"')
      expect(shown).toContain('name="reference" value="A-17"')
      expect(shown).not.toContain('stolen')
      await post(open.path, { press: getPress(shown), amount: '12.50', reference: 'A-17' })
      expect(await listPayments(open.id)).toMatchObject([{ reference: 'A-17', amount_minor: '1250' }])
      const fixed = await link({ reference: 'mine' })
      expect(await page(`${fixed.path}?amount=1&reference=A-17`)).not.toContain('A-17')
      await press(fixed.path, { amount: '1', reference: 'A-17' })
      expect(await listPayments(fixed.id)).toMatchObject([{ reference: 'mine', amount_minor: '6400' }])
    })

    test('the query is shown as text, and impossible values are ignored', async () => {
      const { path } = await link({ amount: undefined, prefill: ['amount', 'reference'] })
      const hostile = encodeURIComponent('"><img src=x onerror=alert(1)>')
      expect(await page(`${path}?reference=${hostile}&amount=${hostile}`)).not.toContain('<img')
      for (const query of [
        'reference=%00',
        'reference=a%0ab',
        `reference=${'x'.repeat(201)}`,
        'reference=a&reference=b',
        'amount=1e9',
        'amount=-1',
        'amount[]=1',
      ])
        expect([
          query,
          (await get(`${path}?${query}`)).status,
          (await page(`${path}?${query}`)).includes('name="reference"'),
        ]).toEqual([query, 200, false])
    })
  })

  describe('a link that makes no payments', () => {
    test.each([
      ['paused', 'active = false', 'This link is closed'],
      ['over', "expires_at = now() - interval '1 second'", 'This link has expired'],
      ['stopped', "stopped_at = now(), stopped_reason = 'fraud'", 'This link was stopped'],
    ])(
      'a link says that it is %s, and makes no payment from a page that was opened before',
      async (_what, change, words) => {
        const { id, path } = await link()
        const before = getPress(await page(path))
        await testApi.db.query(`update payment_link set ${change} where id = $1`, [id])
        expect(await page(path)).toContain(words)
        expect((await post(path, { press: before })).status).toBe(409)
        expect(await listPayments(id)).toEqual([])
      },
    )

    test('a stopped link shows its owner’s words, except if an operator has stopped it', async () => {
      const { id, path } = await link({ inactive_message: 'Back on 1 December.' })
      await testApi.ask('POST', `/v1/payment_links/${id}/deactivate`)
      expect(await page(path)).toContain('Back on 1 December.')
      await testApi.db.query("update payment_link set stopped_at = now(), stopped_reason = 'fraud' where id = $1", [id])
      expect(await page(path)).not.toContain('Back on 1 December.')
    })

    test('an unknown link has a page too', async () => {
      for (const path of ['/l/0000000000', '/l/x', '/l/%00', '/l/', `/l/${'x'.repeat(3000)}`]) {
        const answer = await get(path)
        expect([path.slice(0, 20), answer.status, (await answer.text()).includes('Link not found')]).toEqual([
          path.slice(0, 20),
          404,
          true,
        ])
      }
      const other = await testApi.db.query('select count(*) from payment_link where livemode')
      expect(other.rows[0].count).toBe('0')
    })
  })

  describe('a stranger', () => {
    test('a stranger can press a limited number of times per minute, and then gets a page that asks to wait', async () => {
      limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 3, link: 5 } })
      const { id, path } = await link()
      const statuses = []
      for (let time = 0; time < 4; time++) statuses.push((await press(path)).status)
      expect(statuses).toEqual([303, 303, 303, 429])
      const refused = await press(path)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.text()).toContain('Too many payments were started here')
      expect(await listPayments(id)).toHaveLength(3)
      limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 2 } })
      const another = await link()
      const ofLink = []
      for (let time = 0; time < 3; time++) ofLink.push((await press(another.path)).status)
      expect([...ofLink, (await press(path)).status]).toEqual([303, 303, 429, 303])
      limits = createRequestLimits({ ...NO_LIMITS, pressesPerMinute: { address: 1e6, link: 1e6 } })
    })

    test('a stranger reports a link: the report is stored, and an invalid one is refused', async () => {
      const { id, path } = await link()
      expect(await page(`${path}/report`)).toContain('It is a scam')
      const thanks = await post(`${path}/report`, { reason: 'fraud', details: 'They\nlie' })
      expect(await thanks.text()).toContain('Thank you')
      expect((await post(`${path}/report`, { reason: 'x' })).status).toBe(400)
      expect((await post(`${path}/report`, { reason: 'fraud' }, { origin: 'https://evil.example' })).status).toBe(403)
      const { rows } = await testApi.db.query('select reason, details from link_report where payment_link = $1', [id])
      expect(rows).toEqual([{ reason: 'fraud', details: 'They\nlie' }])
    })
  })

  test('one press on the row of a method makes the payment and continues with that method', async () => {
    const { path, id } = await link()
    const rows = [...(await page(path)).matchAll(/<button type="submit" class="way" name="way" value="([\w.]+)">/g)]
    expect(rows.map(([, way]) => way)).toContain('card_partner.card')
    const to = (await press(path, { way: 'card_partner.card' })).headers.get('location') ?? ''
    expect(to).toMatch(/^\/c\/[\w-]+\?method=card_partner\.card$/)
    const [payment] = await listPayments(id)
    expect(to).toContain(`/${payment?.['checkout_token'] as string}?`)
    expect(await page(to)).toMatch(/<span>Continue to [^<]+<\/span>/)
    expect((await press(path, { way: '//evil.example' })).headers.get('location')).toMatch(/^\/c\/[\w-]+$/)
  })

  test('the page of a paused link names no amount to pay', async () => {
    const { path, id } = await link()
    expect(await page(path)).toContain('You pay')
    await testApi.ask('POST', `/v1/payment_links/${String(id)}/deactivate`)
    const paused = await page(path)
    expect([paused.includes('class="sum"'), paused.includes('You pay'), paused.includes('Closed')]).toEqual([
      false,
      false,
      false,
    ])
  })

  test('the code to print is a file, as SVG and as PNG', async () => {
    const { path } = await link()
    for (const [extension, type] of [
      ['svg', 'image/svg+xml; charset=utf-8'],
      ['png', 'image/png'],
    ]) {
      const { headers } = await get(`${path}/qr.${extension}`)
      const name = `attachment; filename="payment-link-${path.slice(3)}.${extension}"`
      expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([type, name])
    }
  })
})
