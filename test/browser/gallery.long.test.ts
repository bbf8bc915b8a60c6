import { describe, expect, test } from '@jest/globals'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { openCheckoutPages, TEXT_PAGES } from './checkout-pages.ts'
import { EVERY_LOOK } from './faults.ts'
import { GALLERY } from './gallery.ts'
import { findShifts } from './shifts.ts'
import { useBrowser } from './use-browser.ts'

const pages = useBrowser(openCheckoutPages)

test.each(GALLERY)(
  'the page “%s” is accessible, shows its next step, and fits at every width, light and dark',
  async (name) => {
    expect(await pages.findFaults(name, 'en', EVERY_LOOK)).toEqual([])
  },
)

test.each(['receipt', 'test receipt', 'created', 'a method chosen', 'an address for USDC', 'processing', 'succeeded'])(
  'the page “%s” does not move while it loads, though its script comes late',
  async (name) => {
    expect(await findShifts(pages, name)).toEqual([])
  },
)

describe.each(LOCALES.filter((locale) => locale !== 'en'))('in the language “%s”', (locale) => {
  test.each(TEXT_PAGES)('the page “%s” is accessible and fits', async (name) => {
    expect(await pages.findFaults(name, locale)).toEqual([])
  })
})
