import { readPage } from '../../src/sandbox/forms.ts'
import { plain } from '../web/reading.ts'

/** The content of a checkout page, as a buyer reads it. */
export type ReadPage = {
  readonly title: string
  readonly heading: string
  /** The name of the page, and the state of the payment that it shows. */
  readonly page: string
  readonly key: string
  readonly stamp: string
  /** Above the amount: "You pay", "You paid", …. */
  readonly label: string
  /** The amount as data: `49.99 EUR`. */
  readonly sum: string
  readonly text: string
  /** Filled buttons; a good page has one at most. */
  readonly filled: readonly string[]
  /** True if an element opens or continues an order: a form, a method, the partner's own page. */
  readonly asksToPay: boolean
  /** True if the page itself says when it is outdated. */
  readonly follows: boolean
}

export function readCheckout(url: string, html: string): ReadPage {
  const main = between(html, '<main', '</main>')
  const panel = between(html, '<header class="panel"', '</header>')
  const attribute = (name: string): string => plain(new RegExp(`data-${name}="([^"]*)"`).exec(main)?.[1] ?? '')
  const { forms, links } = readPage(url, main)
  const path = new URL(url).pathname
  const waysToPay = links.filter((link) => /[?&]method=/.test(link) || isPartners(link, url))
  return {
    title: readPage(url, html).title,
    heading: text(/<h1[^>]*>(.*?)<\/h1>/s.exec(main)?.[1] ?? ''),
    page: attribute('page'),
    key: attribute('key'),
    stamp: attribute('live').split('knows=')[1] ?? '',
    label: text(/<span class="label">(.*?)<\/span>/.exec(panel)?.[1] ?? ''),
    sum: /<data[^>]* value="([^"]*)"/.exec(panel)?.[1] ?? '',
    text: text(`${panel} ${main.replace(/<div role="status" class="offline".*?<\/div>/s, '')}`),
    filled: [...main.matchAll(/class="button fill"[^>]*>(.*?)<\/(?:a|button)>/gs)].map(([, words = '']) => text(words)),
    asksToPay: forms.some((form) => new URL(form.url).pathname === `${path}/continue`) || waysToPay.length > 0,
    follows: attribute('poll') !== '',
  }
}

/** The page on which an order is open at a partner, a wallet or an app. */
function isPartners(link: string, url: string): boolean {
  if (/^(?:upi|ethereum):/.test(link)) return true
  return /^https?:/.test(link) && new URL(link).origin !== new URL(url).origin && link.includes('/pay/')
}

function between(html: string, start: string, end: string): string {
  const from = html.indexOf(start)
  return from === -1 ? '' : html.slice(from, html.indexOf(end, from))
}

function text(markup: string): string {
  return plain(markup.replace(/&#39;|&#x27;/g, '’'))
    .replace(/\s+/g, ' ')
    .trim()
}
