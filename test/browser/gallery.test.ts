import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { openCheckoutPages } from './checkout-pages.ts'
import { GALLERY } from './gallery.ts'
import { DRAWN, galleryText, NOT_DRAWN, toSlug } from './gallery-design.ts'
import { findShifts } from './shifts.ts'
import { useBrowser } from './use-browser.ts'

const pages = useBrowser(openCheckoutPages)

describe('the pictures of the gallery', () => {
  const FOLDER = fileURLToPath(new URL('../../docs/gallery', import.meta.url))
  const filesIn = (folder: string): string[] => readdirSync(`${FOLDER}/${folder}`).toSorted()

  test('every page has its pictures in the gallery, and the gallery has no other: npm run gallery', () => {
    expect(filesIn('pages')).toEqual(GALLERY.map((name) => `${toSlug(name)}.webp`).toSorted())
    expect(readFileSync(`${FOLDER}/README.md`, 'utf8')).toBe(galleryText())
  })

  test('every page of the design has its page, or a reason why not', () => {
    const named = [...Object.values(DRAWN).map(({ design }) => design), ...Object.keys(NOT_DRAWN)]
    expect(filesIn('design')).toEqual([...new Set(named)].map((design) => `${design}.webp`).toSorted())
    expect(Object.keys(DRAWN).filter((name) => !GALLERY.includes(name))).toEqual([])
  })
})

/** The pages with the most parts. `npm run test:long` examines every page. */
const SAMPLE = [
  'created',
  'another method while one is open',
  'an address for USDC',
  'in a frame of the shop',
  'processing',
  'paid late and twice',
  'in Arabic',
  'receipt',
  'long texts',
]

test('each page of the sample exists', () => {
  expect(SAMPLE.filter((name) => !GALLERY.includes(name))).toEqual([])
})

test.each(SAMPLE)(
  'the page “%s” is accessible, fits, shows its next step, and requests nothing from elsewhere',
  async (name) => {
    expect(await pages.findFaults(name)).toEqual([])
  },
)

test('in Arabic the page runs from right to left: the marks are at the right, the ends at the left', async () => {
  const context = await pages.browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(pages.buildUrl('a method chosen', 'ar'))
  const place = (selector: string) => page.locator(selector).first().boundingBox()
  const [panel, card] = [await place('.panel'), await place('main')]
  expect(panel?.x).toBeGreaterThan(card?.x ?? Number.NaN)
  const [dot, stop] = [await place('.rail .dot'), await place('.rail .stop')]
  expect(dot?.x).toBeGreaterThan(stop?.x ?? Number.NaN)
  const arrow = page.locator('.button.fill .points')
  expect(await arrow.evaluate((icon) => getComputedStyle(icon).scale)).toBe('-1 1')
  // The script writes the times again, with the digits of the page.
  const times = await page.locator('time').allTextContents()
  expect(times.filter((time) => time !== '').join()).toMatch(/\d/)
  expect(times.join()).not.toMatch(/[٠-٩]/)
  await context.close()
})

test('a receipt prints on one page, and a test receipt has TEST across it there too', async () => {
  const context = await pages.browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  for (const name of ['receipt', 'test receipt']) {
    await page.goto(pages.buildUrl(name))
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

test.each(['receipt', 'an address for USDC'])(
  'the page “%s” does not move while it loads, though its script comes late',
  async (name) => {
    expect(await findShifts(pages, name)).toEqual([])
  },
)

test.each([
  ['receipt', 'light'],
  ['succeeded', 'dark'],
] as const)('the page “%s” prints black on white, without the tint of a %s screen', async (name, colorScheme) => {
  const context = await pages.browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme })
  const page = await context.newPage()
  await page.goto(pages.buildUrl(name))
  await page.emulateMedia({ media: 'print', colorScheme })
  const colors = await page.evaluate(() =>
    ['html', 'body', 'main', '.sheet', '.slip', '.paper', '.panel'].flatMap((selector) => {
      const element = document.querySelector(selector)
      return element === null ? [] : [getComputedStyle(element).backgroundColor]
    }),
  )
  expect(colors.filter((color) => !['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)'].includes(color))).toEqual([])
  await context.close()
})
