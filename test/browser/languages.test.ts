import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { complaintsOf, launchBrowser } from '../support/browser.ts'
import { serveGallery } from './gallery.ts'
import { narrowTexts } from './layout-faults.ts'

let browser: Browser
let gallery: Awaited<ReturnType<typeof serveGallery>>
beforeAll(async () => {
  browser = await launchBrowser()
  gallery = await serveGallery()
})
afterAll(async () => {
  await browser?.close()
  await gallery?.close()
})

/** Between them these hold nearly all texts of the checkout. */
const MAIN = [
  'created',
  'a pin that is not offered',
  'pinned to the banking app',
  'a method chosen',
  'a declined attempt',
  'another method chosen while one is open',
  'an address for USDC',
  'a UPI code on Android',
  'back from the partner for a while',
  'processing',
  'too little money',
  'expired with an order open',
  'more than the price',
  'paid late and twice',
  'receipt',
  'problem',
] as const

test.each([
  { name: 'at 320 px', width: 320, text: '100%' },
  { name: 'at 200 % text on a phone', width: 390, text: '200%' },
  { name: 'at 200 % text on a desk', width: 1280, text: '200%' },
])(
  'in no language does a page scroll sideways, or a word stand in too narrow a column, $name',
  async ({ width, text }) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const wrong = complaintsOf(page)
    for (const locale of LOCALES)
      for (const name of MAIN) {
        await page.goto(gallery.urlOf(name, locale))
        await page.evaluate((size) => {
          document.documentElement.style.fontSize = size
          for (const details of document.querySelectorAll('details')) details.open = true
        }, text)
        const found = await page.evaluate(narrowTexts)
        wrong.push(...found.map((fault) => `${locale}, ${name}: ${fault}`))
      }
    expect(wrong).toEqual([])
    await context.close()
  },
  // More than two hundred pages: half a minute, and longer on a busy machine.
  180_000,
)

test('in Arabic the page runs from right to left: the marks stand at the right, the ends at the left', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(gallery.urlOf('a method chosen', 'ar'))
  const place = (selector: string) => page.locator(selector).first().boundingBox()
  const [panel, card] = [await place('.panel'), await place('main')]
  expect(panel?.x).toBeGreaterThan(card?.x ?? Number.NaN)
  const [dot, stop] = [await place('.rail .dot'), await place('.rail .stop')]
  expect(dot?.x).toBeGreaterThan(stop?.x ?? Number.NaN)
  const arrow = page.locator('.button.fill .points')
  expect(await arrow.evaluate((icon) => getComputedStyle(icon).scale)).toBe('-1 1')
  // Moments that the script has written anew keep the digits of the page.
  const times = await page.locator('time').allTextContents()
  expect(times.filter((time) => time !== '').join()).toMatch(/\d/)
  expect(times.join()).not.toMatch(/[٠-٩]/)
  await context.close()
})
