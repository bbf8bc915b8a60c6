import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { launchBrowser } from '../support/browser.ts'
import { serveGallery } from './gallery.ts'
import { findLayoutFaults, NARROW_SCREENS, SAMPLED_LOCALES } from './language-pages.ts'

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

const OTHER_LOCALES = LOCALES.filter((locale) => !SAMPLED_LOCALES.includes(locale))

test.each(NARROW_SCREENS)(
  'no page in the other languages scrolls sideways or narrows a text too much $name',
  async (screen) => {
    expect(await findLayoutFaults({ browser, gallery }, OTHER_LOCALES, screen)).toEqual([])
  },
  // Almost two hundred pages: half a minute, and longer on a busy machine.
  180_000,
)
