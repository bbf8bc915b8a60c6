import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { freePort } from '../../scripts/system/ports.ts'
import { linkIn, signUp } from '../api/site/visitor.ts'
import { openShop, type Shop } from '../api/support/shop.ts'
import { complaintsOf, launchBrowser } from '../support/browser.ts'

let browser: Browser
let shop: Shop
let origin: string
beforeAll(async () => {
  browser = await launchBrowser()
  const port = await freePort()
  // A name, because browsers make no passkeys for a bare address.
  origin = `http://localhost:${port}`
  shop = await openShop({ port, deps: () => ({ publicUrl: origin }) })
})
afterAll(async () => {
  await browser?.close()
  await shop?.close()
})

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

async function faultsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze()
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`),
    ...(wide > 0 ? [`scrolls sideways by ${wide} px`] : []),
  ]
}

/** Somebody with an account, payments in several states, and the cookie in the browser. */
async function furnished(context: BrowserContext): Promise<string> {
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
  await context.addCookies([
    { name: 'pinrail_session', value: owner.cookies.get('pinrail_session') ?? '', url: origin },
  ])
  return ids[0] ?? ''
}

const SHOTS = process.env['SHOTS']

test.each([
  { name: 'a phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'a phone in the dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  { name: 'the narrowest', viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  { name: 'a desk', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'a desk in the dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
] as const)(
  'every page on $name: accessible, no sideways scroll, nothing from elsewhere, nothing to complain about',
  async ({ name, viewport, colorScheme }) => {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const wrong = complaintsOf(page)
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) wrong.push(`asks ${request.url()}`)
    })
    const visit = async (path: string, shot: string): Promise<void> => {
      await page.goto(`${origin}${path}`)
      for (const menu of await page.locator('main details:not(.chip) > summary').all())
        if (await menu.isVisible()) await menu.click()
      wrong.push(...(await faultsOf(page)).map((fault) => `${name} ${path}: ${fault}`))
      if (SHOTS !== undefined) {
        await page.goto(`${origin}${path}`)
        await page.screenshot({ path: `${SHOTS}/${shot}-${viewport.width}-${colorScheme}.png`, fullPage: true })
      }
    }
    for (const [path, shot] of [
      ['/', 'home'],
      ['/sign-in', 'sign-in'],
      ['/sign-in/sent', 'sent'],
    ] as const)
      await visit(path, shot)
    const payment = await furnished(context)
    for (const [path, shot] of PAGES) await visit(path, shot)
    await visit(`/dashboard/payments/${payment}`, 'payment')
    expect(wrong).toEqual([])
    await context.close()
  },
  180_000,
)

const PAGES: readonly (readonly [string, string])[] = [
  ['/dashboard', 'overview'],
  ['/dashboard/payments', 'payments'],
  ['/dashboard/payments?q=nothing-like-it', 'payments-none'],
  ['/dashboard/team', 'team'],
  ['/dashboard/account', 'account'],
  ['/dashboard/welcome', 'welcome'],
  ['/dashboard/passkey', 'passkey'],
  ['/dashboard/confirm', 'confirm'],
]

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
