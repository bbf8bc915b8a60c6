import type { Page } from 'playwright-core'
import { PICTURES } from '../../api/support/pictures.ts'

/** What is done on a page before it is looked at. */
type Press = (page: Page) => Promise<void>

/** Path, name of its picture, and what is pressed first. */
export const PAGES: readonly (readonly [string, string, Press?])[] = [
  ['/', 'home'],
  ['/sign-in', 'sign-in'],
  ['/sign-in/sent', 'sent'],
  ['/dashboard/payments', 'payment', (page) => page.getByRole('link', { name: '49.90' }).click()],
  ['/dashboard', 'overview'],
  ['/dashboard/payments', 'payments'],
  ['/dashboard/payments?q=nothing-like-it', 'payments-none'],
  ['/dashboard/links', 'links'],
  ['/dashboard/links?q=nothing-like-it', 'links-none'],
  ['/dashboard/links', 'link', (page) => page.getByRole('link', { name: 'Gift card' }).click()],
  [
    '/dashboard/links/new',
    'link-new',
    async (page) => {
      await page.getByLabel('Title').fill('October tasting box')
      await page.getByLabel('Amount', { exact: true }).fill('64.00')
      await page.frameLocator('.phone iframe').getByText('€64.00').waitFor()
    },
  ],
  [
    '/dashboard/links',
    'link-edit',
    async (page) => {
      await page.getByRole('link', { name: 'Gift card' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByRole('heading', { name: 'Edit the link' }).waitFor()
    },
  ],
  ['/dashboard/brand', 'brand'],
  [
    '/dashboard/brand',
    'brand-logo',
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
  ['/dashboard/embedding', 'embedding'],
  ['/dashboard/balance', 'balance'],
  ['/dashboard/balance?d=365&by=month', 'balance-year'],
  ['/dashboard/team', 'team'],
  ['/dashboard/account', 'account'],
  ['/dashboard/account/delete', 'account-delete'],
  ['/dashboard/welcome', 'welcome'],
  ['/dashboard/passkey', 'passkey'],
  ['/dashboard/confirm', 'confirm'],
  ['/dashboard/wallet', 'wallet'],
  [
    '/dashboard/wallet/change',
    'wallet-change',
    async (page) => {
      await page.getByLabel('New address').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b906')
      await page.getByLabel('Type or paste it again').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b901')
      await page.getByRole('button', { name: 'Set the wallet' }).click()
      await page.getByText('One thing to correct').waitFor()
    },
  ],
  ['/dashboard/notifications', 'notifications'],
  ['/dashboard/notifications/new/slack', 'channel-new'],
  [
    '/dashboard/notifications/new/email',
    'channel',
    async (page) => {
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('heading', { name: 'E-mail' }).waitFor()
    },
  ],
  ['/dashboard/webhooks', 'webhooks'],
  ['/dashboard/webhooks/new', 'webhook-new'],
  ['/dashboard/webhooks', 'webhook', (page) => page.getByRole('link', { name: 'shop.example/hooks' }).click()],
  [
    '/dashboard/webhooks',
    'webhook-edit',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByRole('heading', { name: 'Edit the endpoint' }).waitFor()
    },
  ],
  [
    '/dashboard/webhooks',
    'webhook-delete',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'Delete' }).click()
      await page.getByRole('heading', { name: 'Delete the endpoint?' }).waitFor()
    },
  ],
  [
    '/dashboard/webhooks',
    'delivery',
    async (page) => {
      await page.getByRole('link', { name: 'shop.example/hooks' }).click()
      await page.getByRole('link', { name: 'webhook.test' }).click()
    },
  ],
  ['/dashboard/events', 'events'],
  ['/dashboard/events?q=nothing-like-it', 'events-none'],
  ['/dashboard/events', 'event', (page) => page.getByRole('link', { name: 'payment.processing' }).click()],
  ['/dashboard/requests', 'requests'],
  ['/dashboard/keys', 'keys'],
  ['/dashboard/keys/new', 'key-new', (page) => page.getByText('Choose', { exact: true }).click()],
  ['/dashboard/keys', 'key', (page) => page.getByRole('link', { name: 'Shop server' }).first().click()],
  [
    '/dashboard/keys/new',
    'key-created',
    async (page) => {
      await page.getByLabel('Name').fill('Shop server')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('heading', { name: 'Copy it now' }).waitFor()
    },
  ],
]
