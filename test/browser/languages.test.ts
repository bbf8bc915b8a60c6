import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
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

test.each(NARROW_SCREENS)('no page scrolls sideways or narrows a text too much $name', async (screen) => {
  expect(await findLayoutFaults({ browser, gallery }, SAMPLED_LOCALES, screen)).toEqual([])
})

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
