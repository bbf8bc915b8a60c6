import type { Page } from 'playwright-core'
import { PICTURES } from '../../api/support/pictures.ts'

/** An action on a page before it is examined. */
type Press = (page: Page) => Promise<void>

/** The name, the path, and the action. */
export const PAGES: readonly (readonly [string, string, Press?])[] = [
  ['home', '/'],
  ['pricing', '/pricing'],
  ['sign-in', '/sign-in'],
  ['sent', '/sign-in/sent'],
  ['payment', '/dashboard/payments', (page) => page.getByRole('link', { name: '49.90' }).click()],
  ['overview', '/dashboard'],
  ['payments', '/dashboard/payments'],
  ['payment-new', '/dashboard/payments/new'],
  ['payments-none', '/dashboard/payments?q=nothing-like-it'],
  ['refunds', '/dashboard/refunds'],
  ['refunds-none', '/dashboard/refunds?status=failed'],
  ['refund', '/dashboard/refunds', (page) => page.getByRole('link', { name: '10.00' }).click()],
  ['payment-refunded', '/dashboard/payments', (page) => page.getByRole('link', { name: '49.99' }).click()],
  [
    'refund-new',
    '/dashboard/payments',
    async (page) => {
      await page.getByRole('link', { name: '49.99' }).click()
      await page.getByRole('link', { name: 'Refund', exact: true }).first().click()
      await page.getByLabel('Amount in EUR').fill('400')
      await page.getByRole('button', { name: 'See what it costs' }).click()
      await page.getByText('One thing to correct').waitFor()
    },
  ],
  [
    'refund-quote',
    '/dashboard/payments',
    async (page) => {
      await page.getByRole('link', { name: '49.99' }).click()
      await page.getByRole('link', { name: 'Refund', exact: true }).first().click()
      await page.getByRole('button', { name: 'See what it costs' }).click()
      await page.getByRole('heading', { name: 'What it costs' }).waitFor()
    },
  ],
  ['deductions', '/dashboard/deductions'],
  ['disputes', '/dashboard/disputes'],
  ['disputes-none', '/dashboard/disputes?status=won'],
  ['dispute', '/dashboard/disputes', (page) => page.getByRole('link', { name: '49.99' }).click()],
  ['dispute-lost', '/dashboard/disputes?status=lost', (page) => page.getByRole('link', { name: '12.00' }).click()],
  [
    'dispute-refused',
    '/dashboard/disputes',
    async (page) => {
      await page.getByRole('link', { name: '49.99' }).click()
      const receipt = { name: 'page.html', mimeType: 'application/pdf', buffer: Buffer.from('<html>') }
      await page.getByLabel('Receipt or invoice').setInputFiles(receipt)
      await page.getByRole('button', { name: 'Submit evidence' }).click()
      await page.getByText('One thing to correct').waitFor()
    },
  ],
  ['links', '/dashboard/links'],
  ['links-none', '/dashboard/links?q=nothing-like-it'],
  ['link', '/dashboard/links', (page) => page.getByRole('link', { name: 'Gift card' }).click()],
  [
    'link-new',
    '/dashboard/links/new',
    async (page) => {
      await page.getByLabel('Title').fill('October tasting box')
      await page.getByLabel('Amount', { exact: true }).fill('64.00')
      await page.frameLocator('.phone iframe').getByText('€64.00').waitFor()
    },
  ],
  [
    'link-edit',
    '/dashboard/links',
    async (page) => {
      await page.getByRole('link', { name: 'Gift card' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByRole('heading', { name: 'Edit the link' }).waitFor()
    },
  ],
  ['agreement', '/dashboard/agreement'],
  ['brand', '/dashboard/brand'],
  [
    'brand-logo',
    '/dashboard/brand',
    async (page) => {
      const logo = { name: 'logo.png', mimeType: 'image/png', buffer: PICTURES.png }
      await page.getByLabel('Logo').setInputFiles(logo)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Buyers see it from now on').waitFor()
      const width = (image: unknown): number => (image as { naturalWidth: number }).naturalWidth
      const seen = [page.getByAltText('Your logo now'), page.frameLocator('.phone iframe').locator('.logo.own img')]
      for (const one of seen) if ((await one.evaluate(width)) !== 40) throw new Error('the logo is not drawn')
    },
  ],
  ['embedding', '/dashboard/embedding'],
  ['balance', '/dashboard/balance'],
  ['balance-year', '/dashboard/balance?d=365&by=month'],
  ['team', '/dashboard/team'],
  ['account', '/dashboard/account'],
  ['account-delete', '/dashboard/account/delete'],
  ['welcome', '/dashboard/welcome'],
  ['passkey', '/dashboard/passkey'],
  ['confirm', '/dashboard/confirm'],
  ['wallet', '/dashboard/wallet'],
  [
    'wallet-change',
    '/dashboard/wallet/change',
    async (page) => {
      await page.getByLabel('New address').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b906')
      await page.getByLabel('Enter it again').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b901')
      await page.getByRole('button', { name: 'Set the wallet' }).click()
      await page.getByText('One thing to correct').waitFor()
    },
  ],
  ['notifications', '/dashboard/notifications'],
  ['channel-new', '/dashboard/notifications/new/slack'],
  [
    'channel',
    '/dashboard/notifications/new/email',
    async (page) => {
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('heading', { name: 'E-mail' }).waitFor()
    },
  ],
  ['webhooks', '/dashboard/webhooks'],
  ['webhook-new', '/dashboard/webhooks/new'],
  ['webhook', '/dashboard/webhooks', (page) => page.getByRole('link', { name: 'shop.example/hooks' }).click()],
  [
    'webhook-edit',
    '/dashboard/webhooks',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByRole('heading', { name: 'Edit the endpoint' }).waitFor()
    },
  ],
  [
    'webhook-delete',
    '/dashboard/webhooks',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'Delete' }).click()
      await page.getByRole('heading', { name: 'Delete the endpoint?' }).waitFor()
    },
  ],
  [
    'delivery',
    '/dashboard/webhooks',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'webhook.test' }).click()
    },
  ],
  [
    'delivery-diagnosed',
    '/dashboard/webhooks',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'webhook.test' }).click()
      await page.getByRole('button', { name: 'Find the mistake' }).click()
      await page.getByRole('heading', { name: 'What we found' }).waitFor()
    },
  ],
  ['events', '/dashboard/events'],
  ['events-none', '/dashboard/events?q=nothing-like-it'],
  ['event', '/dashboard/events', (page) => page.getByRole('link', { name: 'payment.processing' }).click()],
  ['requests', '/dashboard/requests'],
  ['keys', '/dashboard/keys'],
  ['key-new', '/dashboard/keys/new', (page) => page.getByText('Choose', { exact: true }).click()],
  ['key', '/dashboard/keys', (page) => page.getByRole('link', { name: 'Shop server' }).first().click()],
  [
    'key-created',
    '/dashboard/keys/new',
    async (page) => {
      await page.getByLabel('Name').fill('Shop server')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('heading', { name: 'Copy it now' }).waitFor()
    },
  ],
]
