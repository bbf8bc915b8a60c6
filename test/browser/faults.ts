import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { default as axe, RunOnly } from 'axe-core'
import type { Browser, Frame, Page } from 'playwright-core'

export type Look = {
  /** CSS pixels. */
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
  /** The size of the reader's text. */
  readonly text: '100%' | '200%'
  /** The rules that axe checks. */
  readonly axe: 'all' | 'colors' | 'none'
}

/** `npm test` examines each page narrow and wide, light and dark. Axe checks all its rules once. */
export const LOOKS: readonly Look[] = [
  { width: 320, colorScheme: 'light', text: '100%', axe: 'all' },
  { width: 390, colorScheme: 'light', text: '100%', axe: 'none' },
  { width: 1280, colorScheme: 'dark', text: '100%', axe: 'none' },
  { width: 1440, colorScheme: 'dark', text: '100%', axe: 'colors' },
]

/**
 * `npm run test:long` examines each page in all of these. In the dark the elements are the same, and only colors
 * differ.
 */
export const EVERY_LOOK: readonly Look[] = [320, 390, 768, 1280, 1440].flatMap((width): Look[] => [
  { width, colorScheme: 'light', text: '100%', axe: 'all' },
  { width, colorScheme: 'dark', text: '100%', axe: 'colors' },
])

/** Runs in the browser, without access to anything outside the function. Returns the faults. */
type LayoutCheck = () => string[]

export type Examination = {
  readonly looks?: readonly Look[]
  readonly layout?: readonly LayoutCheck[]
  /** Selects the part of the page that axe checks. */
  readonly within?: string
}

/** A folder for a picture of each page in each look. */
const SHOTS = process.env['SHOTS']

/** Opens a page for the examination. It has no motion: axe must not read a color that is fading. */
export async function newExaminedPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  await prepareForAxe(page)
  return page
}

/** Examines the page as it is now. Returns each fault with its look. */
export async function findFaults(
  page: Page,
  name: string,
  { looks = LOOKS, layout = [findSidewaysScroll], within = 'html' }: Examination = {},
): Promise<string[]> {
  const faults: string[] = []
  for (const { width, colorScheme, text, axe } of looks) {
    const title = `${name}, ${width} px, ${colorScheme}, ${text}`
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    for (const frame of page.frames()) {
      const found = await findLayoutFaults(frame, text, layout)
      if (axe !== 'none') found.push(...(await findAxeFaults(frame, axe, frame === page.mainFrame() ? within : 'body')))
      faults.push(...found.map((fault) => `${title}: ${fault}`))
    }
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${title}.png`, fullPage: true })
  }
  return faults
}

/** All checks in one request to the browser. */
function findLayoutFaults(frame: Frame, text: string, checks: readonly LayoutCheck[]): Promise<string[]> {
  return frame.evaluate(
    `document.documentElement.style.fontSize = '${text}'; [${checks.join()}].flatMap((find) => find())`,
  )
}

/** Runs in the browser. */
export function findSidewaysScroll(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  return scrollWidth > clientWidth ? [`scrolls sideways by ${scrollWidth - clientWidth} px`] : []
}

/** Runs in the browser. A pressable element has at least 48 px: WCAG 2.2 asks for 24, a thumb for more. */
export function findSmallTargets(): string[] {
  return [...document.querySelectorAll('.button, .way, select, summary')]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 48)
    .map((element) => `too small: ${element.outerHTML.slice(0, 80)}`)
}

/** Runs in the browser: words that are in a column too narrow for them. A short word on one line is no column. */
export function findNarrowTexts(): string[] {
  return [...document.querySelectorAll('h1, p, dt, dd, .name, .hint, .button span')]
    .filter((element) => {
      const { clipPath, fontSize } = getComputedStyle(element)
      const { width, height } = element.getBoundingClientRect()
      const words = element.textContent?.trim() ?? ''
      if (clipPath !== 'none' || words.length <= 3 || width >= 64 || height <= 2 * Number.parseFloat(fontSize))
        return false
      const text = document.createRange()
      text.selectNodeContents(element)
      return element.checkVisibility() && new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size > 1
    })
    .map((element) => `narrow: ${element.className} ${element.textContent?.slice(0, 30)}`)
}

/** Runs in the browser: opens all folded texts, except those that cover the page. */
export function openFolds(): void {
  for (const details of document.querySelectorAll<HTMLDetailsElement>('details:not(.chip, .who, :has(> .menu))'))
    details.open = true
}

const AXE = readFileSync(fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8')

/** WCAG 2.2 AA with all before it, and the best practices of axe. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const RULES = {
  all: { type: 'tag', values: TAGS },
  colors: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
} as const satisfies Record<string, RunOnly>

/** Gives axe to each frame that the page will have, as a function: its half megabyte is read only when it is called. */
export async function prepareForAxe(page: Page): Promise<void> {
  await page.addInitScript(`globalThis.loadAxe = () => { globalThis.axe ?? (() => { ${AXE} })() }`)
}

/** Rules about a whole page, such as its one main landmark, are checked only within `html`. */
async function findAxeFaults(frame: Frame, rules: keyof typeof RULES, within: string): Promise<string[]> {
  const { passed, faults } = await frame.evaluate(runAxe, { runOnly: RULES[rules], include: [within] })
  // Fewer rules mean that axe missed a part of the page.
  const least = { all: within === 'html' ? 11 : 6, colors: 1 }[rules]
  return passed < least ? [...faults, `only ${passed} rules passed`] : faults
}

/** Runs in the browser. */
async function runAxe({ runOnly, include }: { runOnly: RunOnly; include: string[] }) {
  Reflect.get(window, 'loadAxe')()
  const { run } = Reflect.get(window, 'axe') as typeof axe
  // The names of 249 countries are one component.
  const context = { include, exclude: ['option:not(:first-child)'] }
  const { passes, violations } = await run(context, { runOnly, resultTypes: ['violations'], iframes: false })
  const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  return { passed: passes.length, faults }
}
