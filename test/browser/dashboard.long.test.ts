import { expect, test } from '@jest/globals'
import { openDashboard } from './dashboard/dashboard.ts'
import { PAGES } from './dashboard/pages.ts'
import { EVERY_LOOK } from './faults.ts'
import { useBrowser } from './use-browser.ts'

const dashboard = useBrowser(openDashboard)

test.each(PAGES)('the page “%s” is accessible and fits at every width, light and dark', async (name) => {
  expect(await dashboard.findFaults(name, EVERY_LOOK)).toEqual([])
})
