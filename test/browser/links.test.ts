import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openShop, type Shop } from '../api/support/shop.ts'
import { AXE_RULES, complaintsOf, launchBrowser } from '../support/browser.ts'
import { layoutFaults } from './layout-faults.ts'

/** The pages of a payment link, as a buyer's browser shows them. */

let shop: Shop
let browser: Browser
let path: string
beforeAll(async () => {
  ;[shop, browser] = await Promise.all([openShop(), launchBrowser()])
  const body = { title: 'Tip jar', currency: 'EUR', min_amount: 5, max_amount: 50, max_payments: 3 }
  path = `/l/${String((await shop.ask('POST', '/v1/payment_links', { body })).body['code'])}`
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await shop?.close()
})

test.each([
  { name: 'on a phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'on a desk in the dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
] as const)('the pages $name are accessible, quiet, and do not scroll sideways', async ({ viewport, colorScheme }) => {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const wrong = complaintsOf(page)
  for (const at of [path, `${path}/report`]) {
    await page.goto(`${shop.url}${at}`)
    const { passes, violations } = await new AxeBuilder({ page }).withTags(AXE_RULES).setLegacyMode().analyze()
    expect(passes.length).toBeGreaterThan(10)
    wrong.push(...violations.map(({ id, nodes }) => `${at}: ${id} ${nodes[0]?.html}`))
    wrong.push(...(await page.evaluate(layoutFaults)).map((fault) => `${at}: ${fault}`))
  }
  expect(wrong).toEqual([])
  await context.close()
})

test('without JavaScript a buyer decides, is corrected, and comes to the checkout', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${shop.url}${path}`)
  await page.locator('input[name=amount]').fill('2')
  await page.locator('.button.fill').click()
  expect(await page.locator('[role=alert]').textContent()).toBe('The least here is €5.00.')
  await page.locator('input[name=amount]').fill('12,50')
  await page.locator('.button.fill').click()
  expect(new URL(page.url()).pathname).toMatch(/^\/c\//)
  expect(await page.locator('.amount').textContent()).toBe('€12.50')
  await context.close()
})

test('a double click makes one payment', async () => {
  const before = await shop.count('payment')
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${shop.url}${path}`)
  await page.locator('input[name=amount]').fill('10')
  await page.locator('.button.fill').dblclick()
  await page.waitForURL('**/c/*')
  expect(await shop.count('payment')).toBe(before + 1)
  await context.close()
})
