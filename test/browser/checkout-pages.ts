import type { Browser } from 'playwright-core'
import type { Locale } from '../../src/web/messages/locales.ts'
import { collectComplaints } from '../support/browser.ts'
import {
  findFaults,
  findNarrowTexts,
  findSidewaysScroll,
  findSmallTargets,
  LOOKS,
  type Look,
  newExaminedPage,
  openFolds,
} from './faults.ts'
import { serveGallery } from './gallery.ts'

/** Together these contain nearly all texts of the checkout. */
export const TEXT_PAGES = [
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
  'a refund on its way',
  'receipt',
  'problem',
] as const

/** Screens on which long words break a layout first. */
const LARGE_TEXT: readonly Look[] = [1280, 390].map((width) => ({
  width,
  colorScheme: 'dark',
  text: '200%',
  axe: 'none',
}))

const LAYOUT = [findSidewaysScroll, findSmallTargets, findNarrowTexts]

const PHONE = { width: 390, height: 664 }

/** The pages of the checkout, and a page of the browser that shows them. */
export async function openCheckoutPages(browser: Browser) {
  const gallery = await serveGallery()
  const page = await newExaminedPage(browser)
  const complaints = collectComplaints(page, new URL(gallery.buildUrl('')).origin)
  return {
    page,
    buildUrl: gallery.buildUrl,
    async findFaults(name: string, locale: Locale = 'en', looks = LOOKS): Promise<string[]> {
      await page.setViewportSize(PHONE)
      await page.goto(gallery.buildUrl(name, locale))
      const hidden = await page.evaluate(findHiddenButton)
      await page.evaluate(openFolds)
      return [
        ...hidden,
        ...(await findFaults(page, `${name} (${locale})`, { looks: [...looks, ...LARGE_TEXT], layout: LAYOUT })),
        ...complaints.splice(0),
      ]
    },
    async close(): Promise<void> {
      await page.close()
      await gallery.close()
    },
  }
}

/** Runs in the browser: the next step is in sight without scrolling, if the page has one. */
function findHiddenButton(): string[] {
  const box = document.querySelector('.button.fill')?.getBoundingClientRect()
  const isHidden = box !== undefined && (box.height === 0 || box.top < 0 || box.bottom > innerHeight)
  return isHidden ? [`the button is at ${box.top} px`] : []
}
