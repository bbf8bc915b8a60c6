import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onFreePort } from '../../scripts/system/ports.ts'
import { type ApiRequest, insertRequests } from '../../src/db/merchants/requests.ts'
import { recordEvent } from '../../src/db/webhooks/events.ts'
import { pressOn } from '../api/links/maker.ts'
import { linkIn, signUp } from '../api/site/visitor.ts'
import { openShop, type Shop } from '../api/support/shop.ts'
import { AXE_RULES, complaintsOf, launchBrowser } from '../support/browser.ts'
import { PAGES } from './dashboard/pages.ts'

let browser: Browser
let shop: Shop
let origin: string
const noted: ApiRequest[] = []
beforeAll(async () => {
  browser = await launchBrowser()
  shop = await onFreePort((port) => {
    // A name, because browsers make no passkeys for a bare address.
    origin = `http://localhost:${port}`
    return openShop({ port, deps: () => ({ publicUrl: origin, onRequest: (request) => void noted.push(request) }) })
  })
})
afterAll(async () => {
  await browser?.close()
  await shop?.close()
})

/** Each page is looked at in all of these. In the dark the colours are others, and the page is the same. */
const LOOKS = [
  { width: 390, height: 844, colorScheme: 'light', axe: 'all' },
  { width: 390, height: 844, colorScheme: 'dark', axe: 'none' },
  { width: 320, height: 640, colorScheme: 'light', axe: 'none' },
  { width: 1280, height: 900, colorScheme: 'light', axe: 'none' },
  { width: 1440, height: 900, colorScheme: 'dark', axe: 'colours' },
] as const

async function faultsOf(page: Page, axe: 'all' | 'colours' | 'none'): Promise<string[]> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  const builder = new AxeBuilder({ page })
  const asked =
    axe === 'all' ? builder.withTags(AXE_RULES) : builder.withRules(['color-contrast', 'link-in-text-block'])
  const { violations } = axe === 'none' ? { violations: [] } : await asked.analyze()
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`),
    ...(wide > 0 ? [`scrolls sideways by ${wide} px`] : []),
  ]
}

/** Somebody with an account, payments in several states, and the cookie in the browser. */
async function furnished(context: BrowserContext): Promise<void> {
  const email = `owner-${Math.random()}@shop.example`
  const owner = await signUp(shop, email)
  const { rows } = await shop.db.query(
    `select merchant_id from membership join person on person.id = person_id where email = $1`,
    [email],
  )
  const tenant = { merchantId: String(rows[0]?.merchant_id), livemode: false }
  const { key } = await shop.addKey(tenant)
  await shop.ask('PUT', '/v1/settings/wallet', { key, body: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } })
  const ids: string[] = []
  for (const [amount, currency, reference] of [
    ['49.90', 'EUR', 'Order 10482'],
    ['1249.00', 'SEK', 'Order 10481'],
    ['4250.00', 'INR', 'Order 10480'],
    ['312.00', 'EUR', 'Invoice 2291'],
  ]) {
    const body = { amount, currency, reference, description: 'Guji washed, 2 bags of the good one' }
    ids.push(String((await shop.ask('POST', '/v1/payments', { key, body })).body['id']))
  }
  await shop.db.query(
    `update payment set status = 'succeeded', gross_micro = 57882574, fee_micro = 2604715, net_micro = 55277859,
       rate = '1.1599714406', rate_source = 'test', rate_locked_at = now(), charge_currency = currency,
       confirmed_minor = amount_minor, method_used = 'banking_app', provider_used = 'wallet_app', paid_at = now(),
       succeeded_at = now(), finalized_at = now(), block_number = 78412755, log_index = 3, closed_at = now(),
       tx_hash = '0x67194b7b1beb5a7ddef66b34fa60b81a5fc5bb6d0c35a40c4e2f01fa634723f2' where id = $1`,
    [ids[0]],
  )
  await shop.db.query(`update payment set status = 'under_review', park_reason = 'partner_hold' where id = $1`, [
    ids[3],
  ])
  await furnishDevelopers(key)
  await shop.ask('POST', '/v1/payments', { key, body: { amount: '12.345', currency: 'EUR' } })
  await furnishLinks(key)
  const about = { ...tenant, paymentId: String(ids[0]), object: { id: ids[0], reference: 'Order 10482' } }
  const at = new Date().toISOString()
  for (const type of ['payment.processing', 'payment.under_review'] as const)
    await shop.db.transaction((tx) => recordEvent(tx, { ...about, type, at }))
  await shop.db.query(
    `update delivery set status = 'delivered', attempts = 1, last_attempt_at = now()
     where event_id in (select id from event where type = 'payment.processing')`,
  )
  // As it is in live mode, where a change waits.
  await shop.db.query(
    `update wallet set next_address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906', next_at = now() + interval '17 hours'
     where merchant_id = $1`,
    [tenant.merchantId],
  )
  await insertRequests(shop.db, noted.splice(0))
  await context.addCookies([
    { name: 'pinrail_session', value: owner.cookies.get('pinrail_session') ?? '', url: origin },
  ])
}

/** Links of several kinds, one of them with a payment. */
async function furnishLinks(key: string): Promise<void> {
  const make = async (body: object) => (await shop.ask('POST', '/v1/payment_links', { key, body })).body
  await make({ title: 'October tasting box', amount: '64.00', currency: 'EUR', max_payments: 50 })
  await make({ title: 'Workshop, Mumbai', amount: '4250.00', currency: 'INR', provider: 'local_partner' })
  const gift = { title: 'Gift card', currency: 'USD', min_amount: 10, max_amount: 200, provider: 'card_partner' }
  const { code } = await make({ ...gift, description: 'For somebody who has everything', max_payments: 9 })
  await pressOn(shop, `/l/${String(code)}`, { amount: '40' })
}

/** Keys of several kinds, one of them being replaced and one revoked. */
async function furnishDevelopers(key: string): Promise<void> {
  const post = async (path: string, body: object): Promise<string> =>
    String((await shop.ask('POST', path, { key, body })).body['id'])
  const keys = '/v1/api_keys'
  await post(keys, { name: 'Bookkeeping export', scopes: ['payments:read'], allowed_ips: ['192.0.2.0/24'] })
  await post(`${keys}/${await post(keys, { name: 'Shop server' })}/rotate`, {})
  await shop.ask('DELETE', `${keys}/${await post(keys, { name: 'Laptop' })}`, { key })
  const url = 'https://shop.example/hooks'
  const endpoint = await post('/v1/webhook_endpoints', { url, description: 'Shop server', enabled_events: ['*'] })
  const { body } = await shop.ask('POST', `/v1/webhook_endpoints/${endpoint}/test`, { key })
  await shop.db.query(
    `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status, response_headers, response_body)
     values ($1, $2, 1, now(), 1204, 503, '{"retry-after": "600"}', 'connection pool timeout')`,
    [body['event'], endpoint],
  )
  await shop.db.query(`update delivery set attempts = 1, last_attempt_at = now(), status = 'exhausted'`)
  await shop.db.query(`update webhook_endpoint set failing_since = now() where id = $1`, [endpoint])
}

const SHOTS = process.env['SHOTS']

describe('every page is accessible at every width, light and dark, scrolls only down, and asks nobody else', () => {
  let context: BrowserContext
  beforeAll(async () => {
    context = await browser.newContext({ reducedMotion: 'reduce' })
    await furnished(context)
  }, 60_000)
  afterAll(() => context?.close())

  test.each(PAGES.map(([path, shot, press]) => ({ path, shot, press })))('$shot', async ({ path, shot, press }) => {
    const page = await context.newPage()
    const wrong = complaintsOf(page)
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) wrong.push(`asks ${request.url()}`)
    })
    await page.goto(`${origin}${path}`)
    await press?.(page)
    for (const { width, height, colorScheme } of LOOKS) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      if (SHOTS !== undefined)
        await page.screenshot({ path: `${SHOTS}/${shot}-${width}-${colorScheme}.png`, fullPage: true })
    }
    for (const menu of await page.locator('main details:not(.chip) > summary').all())
      if (await menu.isVisible()) await menu.click()
    for (const { width, height, colorScheme, axe } of LOOKS) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      wrong.push(...(await faultsOf(page, axe)).map((fault) => `${width} ${colorScheme}: ${fault}`))
    }
    // A form that is sent back answers 400, which the console calls an error.
    expect(wrong.filter((text) => !text.includes('status of 400'))).toEqual([])
    await page.close()
  })
})

test('a new merchant signs up by a link, adds a passkey, and signs in with it alone', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const wrong = complaintsOf(page)
  const devices = await context.newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const email = 'maya@nordlys.example'
  await page.goto(`${origin}/dashboard/payments`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a sign-in link' }).click()
  await page.getByRole('heading', { name: 'Look at your e-mail' }).waitFor()
  await page.goto(`${origin}${(await linkIn(shop, email)).path}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Name of your shop').fill('Nordlys Studio')
  await page.getByRole('button', { name: 'Make the account' }).click()
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Chrome on Linux').first().waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(await page.getByText('Nordlys Studio').count()).toBeGreaterThan(0)
  expect(await page.locator('.timeline .success h3').allTextContents()).toEqual([
    'Confirm your e-mail',
    'Add a passkey',
  ])
  expect(wrong).toEqual([])
  await context.close()
})
