import { renderCheckout } from '../../src/web/checkout/page.tsx'
import type { Locale } from '../../src/web/messages/locales.ts'
import { wordsIn } from '../../src/web/messages/words.ts'
import { aCheckout, type CheckoutChanges } from './fixtures.ts'
import { BY_STATUS, SITUATIONS } from './situations.ts'

/** Reads pages as their readers do. */

export function html(changes: CheckoutChanges, locale: Locale = 'en'): string {
  const checkout = aCheckout(changes)
  return renderCheckout(checkout, wordsIn(locale, checkout.country.code))
}

/** Removes tags and scripts, and decodes entities. */
export function readText(page: string): string {
  return plain(readBody(page)).replace(/\s+/g, ' ').trim()
}

/** Removes the names of the languages, which every page has. */
export function readBody(page: string): string {
  return page.slice(page.indexOf('<body')).replace(/<details class="languages">.*?<\/details>/s, '')
}

/** Markup without its tags. A tag that allows a line break does not separate words. */
export function plain(markup: string): string {
  return markup
    .replace(/<wbr ?\/?>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
}

export const read = (changes: CheckoutChanges): string => readText(html(changes))

/** The title of the tab. */
export function readTitle(changes: CheckoutChanges): string {
  return /<title>(.*?)<\/title>/.exec(html(changes))?.[1] ?? ''
}

/** The next step, as its button names it; null if there is none. */
export function filledButton(changes: CheckoutChanges): string | null {
  const button = /<(a|button)[^>]*class="button fill"[^>]*>(.*?)<\/\1>/.exec(html(changes))?.[2]
  return button === undefined ? null : readText(`<body>${button}`)
}

export const EVERY_PAGE = Object.entries<CheckoutChanges>({ ...BY_STATUS, ...SITUATIONS })
