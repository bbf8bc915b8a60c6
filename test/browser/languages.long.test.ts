import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { launchBrowser } from '../support/browser.ts'
import { serveGallery } from './gallery.ts'
import { faultsInLanguages, TEXT_SIZES } from './language-layout.ts'

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

// More than two hundred pages: half a minute, and longer on a busy machine.
test.each(TEXT_SIZES)(
  'in no language does a page scroll sideways, or a word stand in too narrow a column, $name',
  async (size) => {
    expect(await faultsInLanguages({ browser, gallery, locales: LOCALES }, size)).toEqual([])
  },
  180_000,
)
