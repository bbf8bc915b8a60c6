import { afterAll, beforeAll } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'

type Closable = { close(): Promise<void> }

/** A browser and the pages that are opened in it, for the tests of a file. Both exist only while the tests run. */
export function useBrowser<T extends Closable>(
  open: (browser: Browser) => Promise<T>,
): T & { readonly browser: Browser } {
  const opened = {} as T & { browser: Browser }
  beforeAll(async () => {
    opened.browser = await launchBrowser()
    Object.assign(opened, await open(opened.browser))
  })
  afterAll(async () => {
    await opened.close?.()
    await opened.browser?.close()
  })
  return opened
}
