import type { Browser } from 'playwright-core'
import type { Locale } from '../../src/web/messages/locales.ts'
import { complaintsOf } from '../support/browser.ts'
import type { serveGallery } from './gallery.ts'
import { narrowTexts } from './layout-faults.ts'

/** Between them these hold nearly all texts of the checkout. */
const PAGES = [
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

/** Screens on which long words break a layout first: width in CSS pixels, and the size of the text. */
export const NARROW_SCREENS = [
  { name: 'at 320 px', width: 320, text: '100%' },
  { name: 'at 200 % text on a phone', width: 390, text: '200%' },
  { name: 'at 200 % text on a desk', width: 1280, text: '200%' },
] as const

/** The languages that `npm test` looks at: the source, the longest words, and the one that runs from right to left. */
export const SAMPLED_LOCALES: readonly Locale[] = ['en', 'de', 'ar']

/** Opens pages in these languages on one screen. Returns each text that stands too narrow, and each complaint of the browser. */
export async function findLayoutFaults(
  { browser, gallery }: { browser: Browser; gallery: Awaited<ReturnType<typeof serveGallery>> },
  locales: readonly Locale[],
  { width, text }: { width: number; text: string },
): Promise<string[]> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const wrong = complaintsOf(page)
  for (const locale of locales)
    for (const name of PAGES) {
      await page.goto(gallery.urlOf(name, locale))
      await page.evaluate((size) => {
        document.documentElement.style.fontSize = size
        for (const details of document.querySelectorAll('details')) details.open = true
      }, text)
      const found = await page.evaluate(narrowTexts)
      wrong.push(...found.map((fault) => `${locale}, ${name}: ${fault}`))
    }
  await context.close()
  return wrong
}
