import type { Browser } from 'playwright-core'

/** Elements that move on a page of the gallery while it loads, wide and narrow, if its script comes late. */
export async function findShifts(
  { browser, buildUrl }: { browser: Browser; buildUrl: (name: string) => string },
  name: string,
): Promise<string[]> {
  const moved: string[] = []
  for (const width of [1440, 390]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, timezoneId: 'Asia/Kolkata' })
    const page = await context.newPage()
    await page.addInitScript(sumLayoutShifts)
    await page.route('**/*.js', async (route) => {
      // A script that blocks the first paint arrives after half a second.
      await page.waitForFunction(isPainted, undefined, { timeout: 500 }).catch(() => undefined)
      await route.continue()
    })
    await page.goto(buildUrl(name))
    const shifts = await page.evaluate(shiftsAfterTwoFrames)
    if (shifts.length > 0) moved.push(`${name} at ${width}: ${shifts.join(', ')}`)
    await context.close()
  }
  return moved
}

/** Runs in the browser. */
function isPainted(): boolean {
  return performance.getEntriesByName('first-contentful-paint').length > 0
}

type Shifts = { shifts: string[] }

/** Runs in the browser. */
function sumLayoutShifts(): void {
  type Shift = PerformanceEntry & { value: number; sources: { node: Element | null }[] }
  const shifts: string[] = []
  Object.assign(window, { shifts })
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as Shift[])
      shifts.push(`${value.toFixed(4)} of ${sources.map(({ node }) => node?.className || node?.nodeName).join('+')}`)
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Runs in the browser: the elements that have moved by the time when the page is at rest. */
async function shiftsAfterTwoFrames(): Promise<string[]> {
  for (let frame = 0; frame < 4; frame++) await new Promise((resolve) => requestAnimationFrame(resolve))
  return (window as unknown as Shifts).shifts
}
