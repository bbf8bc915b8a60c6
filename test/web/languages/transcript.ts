import { fileURLToPath } from 'node:url'
import { LINK_STATUSES } from '../../../src/domain/link/link.ts'
import { renderCheckout, renderHandoff, renderReceipt } from '../../../src/web/checkout/page.tsx'
import { type CheckoutProblem, renderProblem } from '../../../src/web/checkout/problem.tsx'
import { renderLinkPage } from '../../../src/web/links/link-page.tsx'
import { renderLinkProblem } from '../../../src/web/links/problem.tsx'
import { renderReport, renderReported } from '../../../src/web/links/report-page.tsx'
import type { Locale } from '../../../src/web/messages/locales.ts'
import { type Words, wordsIn } from '../../../src/web/messages/words.ts'
import { PLAIN_PLATFORM } from '../../support/platforms.ts'
import { aCheckout, anAttempt, type CheckoutChanges } from '../fixtures.ts'
import { aLinkView, FIVE, type LinkChanges } from '../link-fixtures.ts'
import { EVERY_PAGE, plain, readBody } from '../reading.ts'
import { BY_STATUS, SITUATIONS } from '../situations.ts'

/** The languages with transcripts: the source, and one that is written from right to left. */
export const KEPT = ['en', 'ar'] as const satisfies readonly Locale[]

/** The path of a language's transcript. `npm run transcripts` writes it. */
export const transcriptFile = (locale: Locale): string =>
  fileURLToPath(new URL(`./transcripts/${locale}.txt`, import.meta.url))

const EVERY_PROBLEM: readonly CheckoutProblem[] = [
  'not_found',
  'bad_request',
  'forbidden',
  'method_not_allowed',
  'unavailable',
  'internal',
  'busy',
]

/** Every page of the checkout, by its name. */
function pagesIn(getWords: (country: string | null) => Words): [string, string][] {
  const words = getWords('DE')
  const pages: [string, string][] = EVERY_PAGE.map(([name, changes]) => {
    const checkout = aCheckout(changes)
    return [name, renderCheckout(checkout, getWords(checkout.country.code))]
  })
  const attempt = { ...anAttempt('open'), redirectUrl: 'https://partner.example/pay/1' }
  const renderReceiptWith = (changes: CheckoutChanges): string => renderReceipt(aCheckout(changes), words)
  return [
    ...pages,
    ...linkPages(words),
    ['hand-off', renderHandoff(aCheckout(), words, attempt)],
    ['receipt', renderReceiptWith(BY_STATUS.succeeded)],
    ['test receipt', renderReceiptWith(SITUATIONS['paid in test mode'])],
    ...EVERY_PROBLEM.map((problem): [string, string] => [
      `problem: ${problem}`,
      renderProblem({ platform: PLAIN_PLATFORM, problem, back: '/c/token-of-the-tests' }, getWords(null)),
    ]),
  ]
}

/** The amount of `1.250` if its sign groups. */
const TWO_READINGS = { minor: '125000', currency: 'EUR' } as const

function linkPages(words: Words): [string, string][] {
  const { path, link } = aLinkView()
  const { title } = link
  const reported = { platform: PLAIN_PLATFORM, path, title, livemode: true }
  const pages: [string, LinkChanges][] = [
    ['fixed amount', {}],
    ['the buyer decides', { price: 'open' }],
    ['the buyer decides, too little', { price: 'open', wrong: { why: 'too_small', amount: FIVE } }],
    ['the buyer decides, too much', { price: 'open', wrong: { why: 'too_large', amount: FIVE } }],
    ['the buyer decides, no amount', { price: 'open', wrong: { why: 'format', amount: null } }],
    ['the buyer decides, two amounts', { price: 'open', wrong: { why: 'ambiguous', amount: TWO_READINGS } }],
    ['made without an account', { anonymous: true }],
    ...LINK_STATUSES.filter((status) => status !== 'active').map((status): [string, LinkChanges] => [
      status,
      { status },
    ]),
  ]
  return [
    ...pages.map(([name, changes]): [string, string] => [`link: ${name}`, renderLinkPage(aLinkView(changes), words)]),
    ['link: missing', renderLinkProblem({ platform: PLAIN_PLATFORM, problem: 'missing', back: null }, words)],
    ['link: too many presses', renderLinkProblem({ platform: PLAIN_PLATFORM, problem: 'too_many', back: path }, words)],
    ['link: report', renderReport(reported, words)],
    ['link: reported', renderReported(reported, words)],
  ]
}

/** Signs around a value of `Intl` in a transcript: another version of its data may write the value differently. */
const VALUE = { begins: '‹', ends: '›' } as const

const marked = (value: string): string => `${VALUE.begins}${value}${VALUE.ends}`

export const withoutValues = (transcript: string): string => transcript.replace(/‹[^›]*›/g, '‹›')

/** The text that a person reads, or that a screen reader speaks, of every page in one language, from top to bottom. */
export function renderTranscript(locale: Locale): string {
  const getWords = (country: string | null): Words => {
    const words = wordsIn(locale, country)
    return {
      ...words,
      money: (money) => marked(words.money(money)),
      country: (code) => marked(words.country(code)),
      currency: (code) => marked(words.currency(code)),
      list: (names) => names.join(', '),
      moment: (iso, style) => marked(words.moment(iso, style)),
    }
  }
  const pages = pagesIn(getWords).map(([name, page]) => `=== ${name}\n${listLines(page).join('\n')}\n`)
  return pages.join('\n')
}

/** Elements that begin a line, and the prefix of that line. */
const LINES: Readonly<Record<string, string>> = {
  h1: '# ',
  h2: '## ',
  p: '',
  li: '· ',
  dt: '',
  summary: '> ',
  label: '',
  button: '[ ]',
  svg: '',
}

function listLines(page: string): string[] {
  const title = /<title>(.*?)<\/title>/.exec(page)?.[1] ?? ''
  const body = readBody(page)
    .replace(/<select.*?<\/select>/s, '')
    .replace(/<svg[^>]*aria-label="([^"]*)".*?<\/svg>|<img[^>]*alt="([^"]+)"[^>]*>/gs, '\n(picture) $1$2\n')
    .replace(/<a class="button[^>]*>(.*?)<\/a>/gs, '\n[$1]\n')
    .replace(/<button[^>]*>(.*?)<\/button>/gs, '\n[$1]\n')
    .replace(/<dd[^>]*>/g, ': ')
    .replace(/<(h1|h2|p|li|dt|summary|label)\b[^>]*>/g, (_tag, name: string) => `\n${LINES[name]}`)
  return [title, ...body.split('\n')]
    .map((line) =>
      plain(line)
        .replace(/\s+/g, ' ')
        .replace(/ ([,.:;?!।،])/g, '$1')
        .trim(),
    )
    .filter((line) => line !== '' && line !== '·' && line !== '[ ]')
}
