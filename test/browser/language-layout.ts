import type { Browser } from 'playwright-core'
import type { Locale } from '../../src/web/messages/locales.ts'
import { complaintsOf } from '../support/browser.ts'
import type { serveGallery } from './gallery.ts'
import { narrowTexts } from './layout-faults.ts'

/** Together these pages show nearly all texts of the checkout. */
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

export const TEXT_SIZES = [
  { name: 'at 320 px', width: 320, text: '100%' },
  { name: 'at 200 % text on a phone', width: 390, text: '200%' },
  { name: 'at 200 % text on a desk', width: 1280, text: '200%' },
] as const

type Shown = {
  readonly browser: Browser
  readonly gallery: Awaited<ReturnType<typeof serveGallery>>
  readonly locales: readonly Locale[]
}

/** Returns what overflows, or has too narrow a column, on the main pages in these languages. */
export async function faultsInLanguages(
  { browser, gallery, locales }: Shown,
  { width, text }: (typeof TEXT_SIZES)[number],
): Promise<string[]> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const faults = complaintsOf(page)
  for (const locale of locales)
    for (const name of MAIN) {
      await page.goto(gallery.urlOf(name, locale))
      await page.evaluate((size) => {
        document.documentElement.style.fontSize = size
        for (const details of document.querySelectorAll('details')) details.open = true
      }, text)
      const found = await page.evaluate(narrowTexts)
      faults.push(...found.map((fault) => `${locale}, ${name}: ${fault}`))
    }
  await context.close()
  return faults
}
