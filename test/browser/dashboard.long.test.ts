import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from './dashboard/dashboard.ts'
import { PAGES } from './dashboard/pages.ts'
import { EVERY_LOOK } from './faults.ts'

let browser: Browser
let dashboard: Dashboard
beforeAll(async () => {
  browser = await launchBrowser()
  dashboard = await openDashboard(browser)
})
afterAll(async () => {
  await dashboard?.close()
  await browser?.close()
})

test.each(PAGES)('the page “%s” is accessible and fits at every width, light and dark', async (name) => {
  expect(await dashboard.findFaults(name, EVERY_LOOK)).toEqual([])
})
