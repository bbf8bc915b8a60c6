import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { GALLERY, serveGallery } from '../../test/browser/gallery.ts'
import { DRAWN, galleryText, NOT_DRAWN, toSlug } from '../../test/browser/gallery-design.ts'
import { launchBrowser } from '../../test/support/browser.ts'

/**
 * `npm run gallery`: writes pictures of every page to docs/gallery. With a folder of the design's own pictures
 * (`<page>-<width>-<scheme>.png`) it writes those too.
 */

const FOLDER = fileURLToPath(new URL('../../docs/gallery', import.meta.url))

const SHOTS = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
] as const

/** Small enough for the repository, large enough to be read. */
const SCALE = 0.6
const QUALITY = 72

async function takePictures(
  browser: Browser,
  urls: readonly (readonly [string, string])[],
): Promise<Map<string, Buffer[]>> {
  const pictures = new Map<string, Buffer[]>(urls.map(([name]) => [name, []]))
  for (const { width, height, colorScheme } of SHOTS) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    for (const [name, url] of urls) {
      await page.goto(url)
      pictures.get(name)?.push(await page.screenshot())
    }
    await context.close()
  }
  return pictures
}

/** Writes the four pictures of a page next to each other, as one file. */
async function writeStrip(browser: Browser, file: string, pictures: readonly Buffer[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 2100, height: 600 } })
  const images = pictures.map((picture) => `<img src="data:image/png;base64,${picture.toString('base64')}">`)
  await page.setContent(
    `<style>body{margin:0}main{display:inline-flex;gap:12px}img{zoom:${SCALE}}</style><main>${images.join('')}</main>`,
  )
  const clip = await page.locator('main').boundingBox()
  if (clip === null) throw new Error(`no picture for ${file}`)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
    clip: { ...clip, scale: 1 },
  })
  writeFileSync(file, Buffer.from(data, 'base64'))
  await page.close()
}

const [designFolder] = process.argv.slice(2)
const browser = await launchBrowser()
const gallery = await serveGallery()
try {
  rmSync(`${FOLDER}/pages`, { recursive: true, force: true })
  for (const folder of ['pages', 'design']) mkdirSync(`${FOLDER}/${folder}`, { recursive: true })
  const pictures = await takePictures(
    browser,
    GALLERY.map((name) => [name, gallery.buildUrl(name)]),
  )
  for (const [name, found] of pictures) await writeStrip(browser, `${FOLDER}/pages/${toSlug(name)}.webp`, found)
  if (designFolder !== undefined) {
    const designs = new Set([...Object.values(DRAWN).map(({ design }) => design), ...Object.keys(NOT_DRAWN)])
    for (const design of designs) {
      const found = SHOTS.map(({ width, colorScheme }) =>
        readFileSync(`${designFolder}/${design}-${width}-${colorScheme}.png`),
      )
      await writeStrip(browser, `${FOLDER}/design/${design}.webp`, found)
    }
  }
  writeFileSync(`${FOLDER}/README.md`, galleryText())
} finally {
  await gallery.close()
  await browser.close()
}
