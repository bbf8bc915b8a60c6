import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { launchBrowser } from '../support/browser.ts'
import { type CheckoutPages, openCheckoutPages, TEXT_PAGES } from './checkout-pages.ts'
import { EVERY_LOOK } from './faults.ts'
import { GALLERY } from './gallery.ts'

let browser: Browser
let pages: CheckoutPages
beforeAll(async () => {
  browser = await launchBrowser()
  pages = await openCheckoutPages(browser)
})
afterAll(async () => {
  await pages?.close()
  await browser?.close()
})

test.each(GALLERY)('the page “%s” is accessible and fits at every width, light and dark', async (name) => {
  expect(await pages.findFaults(name, 'en', EVERY_LOOK)).toEqual([])
})

describe.each(LOCALES.filter((locale) => locale !== 'en'))('in the language “%s”', (locale) => {
  test.each(TEXT_PAGES)('the page “%s” is accessible and fits', async (name) => {
    expect(await pages.findFaults(name, locale)).toEqual([])
  })
})
