import { renderCheckout } from '../../src/web/checkout/page.tsx'
import { wordsIn } from '../../src/web/messages/words.ts'
import { aCheckout, type CheckoutChanges } from './fixtures.ts'
import { BY_STATUS, SITUATIONS } from './situations.ts'

/** Pages as their readers get them. */

export function html(changes: CheckoutChanges): string {
  const checkout = aCheckout(changes)
  return renderCheckout(checkout, wordsIn('en', checkout.country.code))
}

/** No tags, no scripts, entities as characters. */
export function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body'))
  return body
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}

export const read = (changes: CheckoutChanges): string => textOf(html(changes))

/** What the tab says. */
export function titleOf(changes: CheckoutChanges): string {
  return /<title>(.*?)<\/title>/.exec(html(changes))?.[1] ?? ''
}

/** The next step, as its button names it; null where there is none. */
export function filledButton(changes: CheckoutChanges): string | null {
  const button = /<(a|button)[^>]*class="button fill"[^>]*>(.*?)<\/\1>/.exec(html(changes))?.[2]
  return button === undefined ? null : textOf(`<body>${button}`)
}

export const EVERY_PAGE = Object.entries<CheckoutChanges>({ ...BY_STATUS, ...SITUATIONS })
