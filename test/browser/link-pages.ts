import type { Page } from 'playwright-core'
import { onFreePort } from '../../scripts/system/ports.ts'
import { FORM, OWN_WALLET } from '../api/links/maker.ts'
import { openTestApi } from '../api/support/test-api.ts'

/** Opens an API at the URL that its pages contain. */
export async function openLinkPages() {
  let origin = ''
  const testApi = await onFreePort((port) => {
    // Browsers report the origin of a form, so the URL must be the configured one.
    origin = `http://localhost:${port}`
    return openTestApi({ port, deps: () => ({ publicUrl: origin }) })
  })
  return { testApi, origin, close: () => testApi.close() }
}

/** Fills in the form that makes a link. */
export async function fillForm(page: Page, amount: string): Promise<void> {
  await page.locator('#wallet').fill(OWN_WALLET)
  await page.locator('#title').fill(FORM['title'] ?? '')
  await page.locator('#amount').fill(amount)
}
