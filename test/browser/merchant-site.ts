import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { lexer, type Tokens } from 'marked'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { createDocsSite } from '../../src/api/document/docs-site.ts'
import { setEmbedding } from '../../src/db/merchants/embedding.ts'
import { type CheckoutFixture, createCheckoutFixture } from '../api/checkout/checkout-fixture.ts'
import { launchBrowser } from '../support/browser.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'

/** A merchant with a checkout over its page. The merchant is at `localhost` and the checkout 127.0.0.1: not even the same site. */

let browser: Browser
export let fixture: CheckoutFixture
export let merchantSite: Site
/** A stranger's page that records the messages it receives. */
export let stranger: Site
export let context: BrowserContext
export let page: Page
export let payment: Awaited<ReturnType<CheckoutFixture['create']>>

/** The merchant's pages, by path. */
const pages = new Map<string, string>()
export const RECORD_MESSAGES = '<script>received = []; onmessage = (event) => received.push(event.data)</script>'

type Site = Awaited<ReturnType<typeof serve>>

/** Registers the hooks. Each test has its own payment, and the merchant's page in the list. */
export function useMerchantSite(): void {
  beforeAll(async () => {
    ;[browser, fixture, merchantSite, stranger] = await Promise.all([
      launchBrowser(),
      createCheckoutFixture(),
      serve((path) => pages.get(path)),
      serve(() => `<!doctype html><title>Stranger</title>${RECORD_MESSAGES}`),
    ])
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await Promise.all([fixture?.close(), merchantSite?.close(), stranger?.close()])
  })
  beforeEach(async () => {
    fixture.setAnswer('opens')
    await list(merchantSite.url)
    await newPayment({ provider: 'wallet_app' })
  })
  afterEach(() => context?.close())
}

async function serve(pageAt: (path: string) => string | undefined) {
  const server: Server = createServer((request, response) => {
    const body = pageAt(request.url ?? '/')
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const MERCHANT = 'mer_01hzy3v7t8e4a9v2b6q5r0c1d2'

export async function list(...origins: string[]): Promise<void> {
  await setEmbedding(fixture.db, MERCHANT, origins)
}

export async function newPayment(changes: Parameters<CheckoutFixture['create']>[0]): Promise<void> {
  payment = await fixture.create({ successUrl: `${merchantSite.url}/thanks`, ...changes })
}

export async function open(options: BrowserContextOptions = {}): Promise<void> {
  context = await browser.newContext({ extraHTTPHeaders: { 'x-country': 'DE' }, reducedMotion: 'reduce', ...options })
  // All messages that a page of the merchant receives.
  await context.addInitScript(() => {
    const statuses: unknown[] = []
    Reflect.set(window, 'statuses', statuses)
    document.addEventListener('pinrail:status', (event) => statuses.push((event as CustomEvent).detail))
  })
  page = await context.newPage()
}

/** The examples of the guide that are pages, as the guide is served. */
export function examples(): string[] {
  const site = createDocsSite({
    platform: PLAIN_PLATFORM,
    operations: [],
    publicUrl: fixture.url,
    testUrl: fixture.url,
    feePercent: '4.5',
  })
  const text = site.pages.find(({ path }) => path === '/docs/embedding')?.markdown() ?? ''
  return lexer(text).flatMap((token) =>
    token.type === 'code' && token.lang === 'html' ? [(token as Tokens.Code).text] : [],
  )
}

/** The page of the guide, with the URL of the payment in it. */
export async function openMerchantPage(changed: (html: string) => string = (html) => html): Promise<void> {
  pages.set('/', changed((examples()[0] ?? '').replace('CHECKOUT_URL', payment.url)))
  pages.set('/received', `<!doctype html><title>Merchant</title>${RECORD_MESSAGES}`)
  pages.set('/thanks', '<!doctype html><title>Thanks</title><h1>Thanks</h1>')
  await page.goto(`${merchantSite.url}/`)
}

export const pay = () => page.getByRole('link', { name: 'Pay €49.90' })
export const dialog = () => page.getByRole('dialog', { name: 'Pay €49.90' })
export const inFrame = () => page.frameLocator('dialog iframe')
export const heading = (name: string) => inFrame().getByRole('heading', { level: 1, name })
