import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { TEST_ENVIRONMENT } from '../../../scripts/test/environment.ts'
import { findTogether } from '../../../src/api/live/find-together.ts'
import { createOpenPages } from '../../../src/api/live/open-pages.ts'
import type { CheckoutDeps } from '../../../src/api/routes/checkout/checkout.ts'
import { readApiConfig } from '../../../src/config/config.ts'
import { readStamps } from '../../../src/db/payments/payments.ts'
import { composeApi } from '../../../src/deps/api.ts'
import type { DownPartners } from '../../../src/domain/offers.ts'
import { newId } from '../../../src/ids.ts'
import { browse } from '../../support/browse.ts'
import { openStream, type Stream } from '../live/stream.ts'
import { type CheckoutFixture, createCheckoutFixture, movePayment } from './checkout-fixture.ts'

let fixture: CheckoutFixture
let down: DownPartners = {}
beforeAll(async () => {
  fixture = await createCheckoutFixture({ down: () => down })
})
afterAll(() => fixture?.close())
afterEach(() => {
  down = {}
})

describe('Partners that are down', () => {
  const SINCE = '2026-11-20T12:00:00.000Z'

  const get = (path: string) => browse(fixture.url).get(path).set('x-country', 'DE').expect(200)
  const post = (path: string, body: object = {}) => browse(fixture.url).post(path).set('x-country', 'DE').form(body)
  const readKey = async (path: string): Promise<string> => (await get(`${path}/status`)).body.key
  const APP = { provider: 'wallet_app', method: 'banking_app' }

  test('the page of a pinned payment whose partner is down names that, offers other providers, notifies its merchant, and recovers', async () => {
    const { id, path } = await fixture.create({ provider: 'wallet_app' })
    const before = await readKey(path)
    down = { wallet_app: SINCE }
    const page = await get(path)
    expect(page.text).toContain('Paying by banking app does not work at the moment.')
    expect(page.text).toContain('Velanto is not responding. It appears here again automatically.')
    expect(page.text).toContain('?method=card_partner.card')
    expect(page.text).not.toContain('?method=wallet_app.banking_app')
    expect(await readKey(path)).not.toBe(before)

    for (const since of [SINCE, SINCE, '2026-11-20T14:00:00.000Z']) {
      down = { wallet_app: since }
      await post(`${path}/opened`).expect(204)
    }
    const entries = await fixture.timeline(id, 'checkout.route')
    // One for each outage.
    expect(entries.map(({ message, data }) => [message, data['reason'], data['down_since']])).toEqual([
      ['wallet_app is not responding at the moment; shown: picker', 'down', SINCE],
      ['wallet_app is not responding at the moment; shown: picker', 'down', '2026-11-20T14:00:00.000Z'],
    ])

    // No form leads to this provider.
    expect((await post(`${path}/continue`, APP).expect(303)).headers['location']).toBe(
      `${path}?method=wallet_app.banking_app`,
    )
    expect(fixture.asked).toEqual([])

    down = {}
    expect(await readKey(path)).toBe(before)
    await post(`${path}/continue`, APP).expect(200)
    expect(fixture.asked).toHaveLength(1)
  })

  test('without a fallback the page waits for the partner, with and without a script, and keeps the link', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app', fallback: 'none' })
    down = { wallet_app: SINCE }
    const page = await get(path)
    expect(page.text).toContain('Velanto is not responding at the moment')
    expect(page.text).toContain('the link stays the same')
    expect(page.text).toContain('<noscript><meta http-equiv="refresh"')
    expect(page.text).not.toContain(`${path}/continue`)
    down = {}
    expect((await get(path)).text).toContain(`${path}/continue`)
  })

  test('the picker names a provider that is down at the moment', async () => {
    const { path } = await fixture.create()
    const before = await readKey(path)
    down = { card_partner: SINCE }
    expect(await readKey(path)).not.toBe(before)
    expect((await get(path)).text).toContain('Cardora is not responding at the moment (Card and Device wallet).')
    down = {}
    expect((await get(path)).text).not.toContain('at the moment')
  })

  test('an open order at the partner is shown as before, and can be continued', async () => {
    const { path } = await fixture.create({ provider: 'wallet_app' })
    await post(`${path}/continue`, APP).expect(200)
    const [page, key] = [(await get(path)).text, await readKey(path)]
    down = { wallet_app: SINCE }
    expect(page).toContain('Finish at Velanto')
    expect((await get(path)).text).toContain('Finish at Velanto')
    expect(await readKey(path)).toBe(key)
    expect((await get(path)).text).toContain(`href="${fixture.partnerUrl}/pay/`)
  })
})

describe('More time', () => {
  const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()
  const get = (path: string) => browse(fixture.url).get(path).set('x-country', 'DE').expect(200)
  const press = (path: string) => browse(fixture.url).post(`${path}/extend`).form('')

  test('a buyer gets 15 minutes more shortly before the expiry, once, and the workflow receives a signal', async () => {
    const expiresAt = inMinutes(4)
    const { path, id, read } = await fixture.create({ provider: 'wallet_app', expiresAt })
    const before = await get(path)
    expect(before.text).toContain('4 minutes left.')
    expect(before.text).toContain(`action="${path}/extend"`)
    expect((await press(path).expect(303)).headers['location']).toBe(path)
    const extended = (await read())?.expiresAt ?? ''
    expect(Date.parse(extended) - Date.parse(expiresAt)).toBe(15 * 60_000)
    expect(fixture.extended).toEqual([id])
    expect((await fixture.timeline(id, 'payment.expiry_extended')).map(({ actor }) => actor)).toEqual(['buyer'])
    expect((await get(path)).text).not.toContain('/extend')
    await press(path).expect(303)
    expect([(await read())?.expiresAt, fixture.extended.length]).toEqual([extended, 1])
  })

  test('a payment is not extended if time is left, after its expiry, or by another site', async () => {
    fixture.extended.length = 0
    const early = await fixture.create({ expiresAt: inMinutes(30) })
    expect((await get(early.path)).text).not.toContain('/extend')
    await press(early.path).expect(303)
    const closed = await fixture.create({ expiresAt: inMinutes(3) })
    await movePayment(fixture, closed.id, ['canceled'])
    await press(closed.path).expect(303)
    const foreign = await fixture.create({ expiresAt: inMinutes(3) })
    await press(foreign.path).set('sec-fetch-site', 'cross-site').expect(403)
    await browse(fixture.url).get(`${foreign.path}/extend`).expect(405)
    expect(fixture.extended).toEqual([])
  })
})

describe('The test bar', () => {
  let simulated: CheckoutFixture
  const nobody = () => Promise.reject(new Error('nobody is to be asked'))
  const SIMULATING = {
    workflows: { openAttempt: nobody, signalRowChanged: nobody },
    skipDeliveryTime: nobody,
    simulate: nobody,
    newAttemptId: () => newId('attempt'),
    clock: Date.now,
    publicUrl: 'http://127.0.0.1:9',
  } as unknown as NonNullable<CheckoutDeps['simulating']>
  beforeAll(async () => {
    simulated = await createCheckoutFixture({ simulating: SIMULATING })
  })
  afterAll(() => simulated?.close())

  const BAR = 'class="sandbox"'
  const getCookies = (answer: { headers: Record<string, unknown> }): string =>
    (answer.headers['set-cookie'] as string[]).map((cookie) => cookie.split(';')[0]).join('; ')

  function visit({ url }: CheckoutFixture, path: string) {
    let cookie = ''
    return {
      page: async () => (await browse(url).get(path).set('cookie', cookie).set('x-country', 'DE').expect(200)).text,
      press: async (fields: object, headers: Record<string, string> = {}) => {
        const answer = await browse(url)
          .post(`${path}/sandbox`)
          .set({ cookie, 'x-country': 'DE', ...headers })

          .form(fields)
        if (answer.headers['set-cookie'] !== undefined) cookie = getCookies(answer)
        return answer
      },
    }
  }

  test('the test bar is absent for real partners, and its URL is not found', async () => {
    const { path } = await fixture.create()
    const buyer = visit(fixture, path)
    expect(await buyer.page()).not.toContain(BAR)
    for (const fields of [{ do: 'pay' }, { skip: '60' }, { country: 'IN', device: '', language: 'en' }]) {
      const answer = await buyer.press(fields)
      expect([answer.status, answer.headers['set-cookie']]).toEqual([404, undefined])
    }
  })

  test('the test bar cannot change a payment of live mode', async () => {
    const { path } = await simulated.create({ livemode: true })
    const answer = await visit(simulated, path).press({ do: 'pay' })
    expect(answer.status).toBe(404)
  })

  test('the test bar sets country, device and language for this payment, and resets them', async () => {
    const { path } = await simulated.create({ provider: 'local_partner' })
    const buyer = visit(simulated, path)
    expect(await buyer.page()).toContain(BAR)
    await buyer.press({ country: 'IN', device: 'android', language: 'hi' })
    const page = await buyer.page()
    expect(page).toContain('lang="hi"')
    expect(page).toContain('<option value="IN" selected')
    expect(page).toContain('<option value="android" selected')
    await buyer.press({ country: '', device: '', language: 'en' })
    expect(await buyer.page()).toContain('UPI is not offered in Germany')
  })

  test('the test bar takes a partner down, and up again', async () => {
    const { path } = await simulated.create({ provider: 'wallet_app' })
    const buyer = visit(simulated, path)
    const { status, headers } = await buyer.press({ do: 'partner_down' })
    expect([status, headers['location']]).toEqual([303, `${path}?sandbox=`])
    const page = await buyer.page()
    expect(page).toContain('Paying by banking app does not work at the moment.')
    expect(page).toContain('value="partner_down" aria-pressed="true"')
    // Another buyer of the same merchant is not affected.
    expect(await visit(simulated, path).page()).toContain('Continue to Velanto')
    await buyer.press({ do: 'partner_down' })
    expect(await buyer.page()).toContain('Continue to Velanto')
  })

  test.each([
    [{ do: 'explode' }, {}, 400],
    [{ skip: '999999999' }, {}, 400],
    [{ country: 'XX', device: '', language: 'en' }, {}, 400],
    [{ do: 'pay' }, { 'sec-fetch-site': 'cross-site' }, 403],
    [{ do: 'pay' }, { origin: 'https://elsewhere.example' }, 403],
  ])('the test bar refuses %j with %j', async (fields, headers, status) => {
    const { path } = await simulated.create()
    expect((await visit(simulated, path).press(fields, headers)).status).toBe(status)
  })
})

describe('Open pages', () => {
  const follow = (path: string, knows?: string, received?: string): Promise<Stream> =>
    openStream(`${fixture.url}${path}/live${knows === undefined ? '' : `?knows=${knows}`}`, received)
  const stampNow = async (id: string) => (await readStamps(fixture.db, [id])).get(id)

  test('an open page receives each change, and nothing that it has already', async () => {
    const payment = await fixture.create()
    const other = await fixture.create()
    const page = await follow(payment.path, await stampNow(payment.id))
    expect(page.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-encoding')).toBeNull()
    await movePayment(fixture, other.id, ['pending'])
    await movePayment(fixture, payment.id, ['pending'])
    expect(await page.next()).toBe(await stampNow(payment.id))
    await movePayment(fixture, payment.id, ['processing'])
    expect(await page.next()).toBe(await stampNow(payment.id))
    expect(page.received()).toHaveLength(2)
    await page.close()
  })

  test('an open page receives a change of the order alone', async () => {
    const payment = await fixture.create()
    const attemptId = 'att_01hzy3v7t8e4a9v2b6q5r0c1d2'
    await movePayment(fixture, payment.id, ['pending'])
    await fixture.change(payment.id, (draft) =>
      draft.addAttempt({
        id: attemptId,
        provider: 'wallet_app',
        method: 'banking_app',
        asked: { minor: '1', currency: 'EUR' },
      }),
    )
    const page = await follow(payment.path, await stampNow(payment.id))
    await fixture.change(payment.id, (draft) => draft.setAttempt(attemptId, { status: 'open' }))
    expect(await page.next()).toMatch(/-open$/)
    await page.close()
  })

  test('an open page receives changes from before its connection at once, also after a reconnect', async () => {
    const payment = await fixture.create()
    const rendered = await stampNow(payment.id)
    await movePayment(fixture, payment.id, ['pending'])
    const late = await follow(payment.path, rendered)
    const seen = await late.next()
    await late.close()
    await movePayment(fixture, payment.id, ['processing'])
    const back = await follow(payment.path, rendered, seen)
    expect(await back.next()).toBe(await stampNow(payment.id))
    await back.close()
  })

  test('a page that is closed is removed', async () => {
    const second = await createCheckoutFixture()
    const payment = await second.create()
    const pages = await Promise.all([1, 2, 3].map(() => openStream(`${second.url}${payment.path}/live`)))
    expect(second.openPages.count()).toBe(3)
    await Promise.all(pages.map((page) => page.close()))
    while (second.openPages.count() !== 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await second.close()
  }, 60_000)

  test('a stream of an unknown link is not found, and many streams of one link leave room for others', async () => {
    expect((await fetch(`${fixture.url}/c/unknown/live`)).status).toBe(404)
    expect((await fetch(`${fixture.url}/c/a%00b/live`)).status).toBe(404)
    const [crowded, other] = [await fixture.create(), await fixture.create()]
    const pages = await Promise.all(Array.from({ length: 25 }, () => follow(crowded.path)))
    const refused = await fetch(`${fixture.url}${crowded.path}/live`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    pages.push(await follow(other.path))
    await Promise.all(pages.map((page) => page.close()))
  })

  test('a look-up that fails is repeated', async () => {
    const payment = await fixture.create()
    const errors: unknown[] = []
    const openPages = createOpenPages({
      readStamps: async (ids) => {
        if (errors.length < 2) throw new Error('the database is away')
        return readStamps(fixture.db, ids)
      },
      onError: (error) => errors.push(error),
    })
    const second = await createCheckoutFixture({ db: fixture.db, openPages })
    const page = await openStream(`${second.url}${payment.path}/live?knows=old`)
    expect(await page.next()).toBe(await stampNow(payment.id))
    expect(errors).toHaveLength(2)
    openPages.close()
    await page.ended
    await second.close()
  }, 60_000)

  test('every open page is asked to reconnect when the process stops', async () => {
    const { deps, close } = await composeApi(
      readApiConfig({ ...TEST_ENVIRONMENT, DATABASE_URL: fixture.databaseUrl }),
      pino({ level: 'silent' }),
    )
    const second = await createCheckoutFixture({ db: fixture.db, openPages: deps.openPages })
    const payment = await fixture.create()
    const page = await openStream(`${second.url}${payment.path}/live?knows=${await stampNow(payment.id)}`)
    expect(await deps.registry.page()).toContain('pinrail_open_pages 1\n')
    await movePayment(fixture, payment.id, ['pending'])
    expect(await page.next()).toBe(await stampNow(payment.id))
    await close()
    await page.ended
    await second.close()
  }, 60_000)

  test('pages that reconnect at the same moment are looked up in a few statements, one at a time, each with its own payment', async () => {
    const [statements, running]: [number[], { now: number; most: number }] = [[], { now: 0, most: 0 }]
    const find = findTogether(async (tokens) => {
      statements.push(tokens.length)
      running.now += 1
      running.most = Math.max(running.most, running.now)
      await new Promise(setImmediate)
      running.now -= 1
      return new Map(tokens.filter((token) => token !== 'of nothing').map((token) => [token, `payment of ${token}`]))
    })
    const tokens = Array.from({ length: 2500 }, (_token, index) => `token ${index}`)
    const found = await Promise.all([...tokens, 'of nothing'].map(find))
    expect(found).toEqual([...tokens.map((token) => `payment of ${token}`), null])
    expect(statements).toEqual([1000, 1000, 501])
    expect(running.most).toBe(1)
  })

  test('pages whose payment could not be looked up receive an error, and the next ones are looked up', async () => {
    let isDown = true
    const find = findTogether(async (tokens) => {
      if (isDown) throw new Error('no connection')
      return new Map(tokens.map((token) => [token, token]))
    })
    await expect(Promise.all([find('a'), find('b')])).rejects.toThrow('no connection')
    isDown = false
    expect(await find('a')).toBe('a')
  })
})
