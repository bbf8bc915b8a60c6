import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pino } from 'pino'
import type { Browser } from 'playwright-core'
import { createInbox, type Inbox } from '../../src/sandbox/inbox/inbox.ts'
import { openTestApi, type TestApi } from '../api/support/test-api.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Examination, findFaults, findSidewaysScroll, newExaminedPage, openFolds } from './faults.ts'

let browser: Browser
let testApi: TestApi
let inbox: Inbox
let inboxServer: Server
let urls: string[]
const folder = mkdtempSync(join(tmpdir(), 'documents-'))
beforeAll(async () => {
  browser = await launchBrowser()
  testApi = await openTestApi()
  inbox = await createInbox({ secrets: [], dataFile: join(folder, 'inbox.jsonl'), log: pino({ level: 'silent' }) })
  inboxServer = createServer(inbox.app)
  await new Promise<void>((resolve) => inboxServer.listen(0, '127.0.0.1', resolve))
  const inboxUrl = `http://127.0.0.1:${(inboxServer.address() as AddressInfo).port}`
  const body = JSON.stringify({ type: 'payment.succeeded', data: { object: { id: 'pay_1', note: 'x'.repeat(300) } } })
  await fetch(`${inboxUrl}/hook`, { method: 'POST', body })
  urls = ['/docs', '/docs/webhooks', '/docs/testing', '/docs/api/payments', '/docs/errors', '/receipts/verify']
    .map((path) => `http://127.0.0.1:${testApi.port}${path}`)
    .concat(inboxUrl)
}, 90_000)
afterAll(async () => {
  await testApi?.close()
  await browser?.close()
  inboxServer?.closeAllConnections()
  inboxServer?.close()
  await inbox?.close()
  rmSync(folder, { recursive: true })
})

const UNFOLDED: Examination = {
  looks: [320, 768, 1440].map((width) => ({ width, colorScheme: 'light', text: '100%', axe: 'none' })),
  layout: [
    findSidewaysScroll,
    () =>
      [...document.querySelectorAll('pre, dd, p')]
        .filter((element) => element.getBoundingClientRect().width < 100)
        .map((element) => `narrow: ${element.outerHTML.slice(0, 80)}`),
  ],
}

test('the documents and the inbox are accessible and readable: they fit, and no text is narrow', async () => {
  const page = await newExaminedPage(browser)
  const wrong: string[] = []
  for (const url of urls) {
    await page.goto(url)
    // For axe the examples stay folded: they are the same list a hundred times.
    wrong.push(...(await findFaults(page, url)))
    await page.evaluate(openFolds)
    wrong.push(...(await findFaults(page, `${url} unfolded`, UNFOLDED)))
  }
  expect(wrong).toEqual([])
  await page.close()
})

test('the inbox shows a new delivery on top, and leaves open what a person reads', async () => {
  const inboxUrl = String(urls.at(-1))
  const deliver = (type: string) =>
    fetch(`${inboxUrl}/hook`, {
      method: 'POST',
      body: JSON.stringify({
        type,
        data: { object: { id: 'pay_2', amount_decimal: '49.90', currency: 'EUR', status: '<b>paid</b>' } },
      }),
    })
  const page = await browser.newPage()
  try {
    // The page polls as soon as its stream is open.
    const streams = page.waitForResponse((answer) => answer.url().endsWith('/deliveries/live'))
    await page.goto(inboxUrl)
    await streams
    await page.getByText('Body').first().click()
    const read = page.locator('#delivery-0 pre').first()
    await deliver('payment.refunded')
    await page.locator('li b', { hasText: 'payment.refunded' }).waitFor()
    expect(await page.locator('li').first().textContent()).toContain('49.90 EUR · <b>paid</b>')
    expect(await read.isVisible()).toBe(true)
    expect(await page.locator('[data-count]').textContent()).toBe('2 webhooks received')
    // Deliveries from a time without a stream arrive with the next one.
    await page.context().setOffline(true)
    await deliver('payment.chargeback')
    inboxServer.closeAllConnections()
    await page.context().setOffline(false)
    await page.locator('li b', { hasText: 'payment.chargeback' }).waitFor()
    expect(await page.locator('li').count()).toBe(3)
  } finally {
    await page.close()
  }
})
