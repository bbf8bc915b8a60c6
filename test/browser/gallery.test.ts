import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { AXE_RULES, complaintsOf, launchBrowser } from '../support/browser.ts'
import { GALLERY, serveGallery } from './gallery.ts'
import { DRAWN, galleryText, NOT_DRAWN, slugOf } from './gallery-design.ts'
import { findLayoutFaults, NARROW_SCREENS, SAMPLED_LOCALES } from './language-pages.ts'
import { layoutFaults, narrowTexts } from './layout-faults.ts'

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

describe('the pictures of the gallery', () => {
  const FOLDER = fileURLToPath(new URL('../../docs/gallery', import.meta.url))
  const filesIn = (folder: string): string[] => readdirSync(`${FOLDER}/${folder}`).toSorted()

  test('every page has its pictures in the gallery, and the gallery has no other: npm run gallery', () => {
    expect(filesIn('pages')).toEqual(GALLERY.map((name) => `${slugOf(name)}.webp`).toSorted())
    expect(readFileSync(`${FOLDER}/README.md`, 'utf8')).toBe(galleryText())
  })

  test('every page of the design has its page, or a reason why not', () => {
    const named = [...Object.values(DRAWN).map(({ design }) => design), ...Object.keys(NOT_DRAWN)]
    expect(filesIn('design')).toEqual([...new Set(named)].map((design) => `${design}.webp`).toSorted())
    expect(Object.keys(DRAWN).filter((name) => !GALLERY.includes(name))).toEqual([])
  })
})

describe('pages', () => {
  /** Between them these pages show every component there is. */
  const COMPONENTS = [
    'created',
    'pinned to UPI',
    'a declined attempt',
    'a UPI code',
    'processing',
    'succeeded',
    'test mode',
    'the test bar',
    'under_review',
    'expired',
    'paid late and twice',
    'more than the price',
    'a pin that is not offered',
    'a shop with a colour of its own',
    'test receipt',
  ]

  test('every page at 320 px: accessible, no sideways scroll, large enough to press, quiet, from one origin', async () => {
    const context = await browser.newContext({ viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const wrong = complaintsOf(page)
    const { origin } = new URL(gallery.urlOf(''))
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) wrong.push(`asks ${request.url()}`)
    })
    for (const name of GALLERY) {
      await page.goto(gallery.urlOf(name))
      for (const summary of await page.locator('summary').all()) await summary.click()
      const found = [...(await violations(page)), ...(await page.evaluate(layoutFaults))]
      wrong.push(...found.map((fault) => `${name}: ${fault}`))
    }
    expect(wrong).toEqual([])
    await context.close()
    // More than fifty pages, each examined: three minutes on a busy machine.
  }, 400_000)

  test.each([
    { name: 'in the dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
    { name: 'on a desk', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
    { name: 'in the dark on a desk', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  ] as const)('every component $name: accessible, and no sideways scroll', async ({ viewport, colorScheme }) => {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const wrong = complaintsOf(page)
    for (const name of COMPONENTS) {
      await page.goto(gallery.urlOf(name))
      const found = [...(await violations(page)), ...(await page.evaluate(layoutFaults))]
      wrong.push(...found.map((fault) => `${name}: ${fault}`))
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  const PHONE = { width: 390, height: 664 }

  test('on a phone the next step is in sight without scrolling, on every page that has one', async () => {
    const context = await browser.newContext({ viewport: PHONE, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const hidden: string[] = []
    for (const name of GALLERY) {
      await page.goto(gallery.urlOf(name))
      const button = page.locator('.button.fill')
      if ((await button.count()) === 0) continue
      const box = await button.boundingBox()
      if (box === null || box.y < 0 || box.y + box.height > PHONE.height) hidden.push(`${name}: ${box?.y}`)
    }
    expect(hidden).toEqual([])
    await context.close()
  }, 120_000)

  test.each([
    { width: 390, height: 844 },
    { width: 1280, height: 900 },
  ])(
    'at 200 % text and $width px no page scrolls sideways, and no line holds a single letter',
    async (viewport) => {
      const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const wrong: string[] = []
      for (const name of GALLERY.filter((each) => each !== 'long texts')) {
        await page.goto(gallery.urlOf(name))
        await page.evaluate(() => {
          document.documentElement.style.fontSize = '200%'
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        const found = await page.evaluate(narrowTexts)
        wrong.push(...found.map((fault) => `${name}: ${fault}`))
      }
      expect(wrong).toEqual([])
      await context.close()
    },
    120_000,
  )

  test('a receipt prints on one page, and a test receipt has TEST across it there too', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    for (const name of ['receipt', 'test receipt']) {
      await page.goto(gallery.urlOf(name))
      const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
      expect([name, pdf.match(/\/Type\s*\/Page\b/g)?.length]).toEqual([name, 1])
      await page.emulateMedia({ media: 'print' })
      const mark = await page.locator('main').evaluate((main) => getComputedStyle(main, '::after').content)
      expect([name, mark]).toEqual([name, name === 'receipt' ? 'none' : '"TEST"'])
      expect(await page.locator('.tools').isVisible()).toBe(false)
      await page.emulateMedia({ media: null })
    }
    await context.close()
  })

  async function violations(page: Page): Promise<string[]> {
    // The names of 249 countries are one component.
    const result = await new AxeBuilder({ page })
      .withTags(AXE_RULES)
      .exclude('option:not(:first-child)')
      .setLegacyMode()
      .analyze()
    expect(result.passes.length).toBeGreaterThan(10)
    return result.violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)
  }
})

describe('languages', () => {
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
})
