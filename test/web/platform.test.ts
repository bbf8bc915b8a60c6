import { describe, expect, test } from '@jest/globals'
import { PROVIDERS } from '../../src/domain/methods.ts'
import { listAddresses, type Platform } from '../../src/domain/platform.ts'
import { renderCheckout, renderHandoff, renderReceipt } from '../../src/web/checkout/page.tsx'
import { renderProblem } from '../../src/web/checkout/problem.tsx'
import { renderForget } from '../../src/web/dashboard/forget.tsx'
import { renderDocsSearch } from '../../src/web/docs/search.tsx'
import { renderHome } from '../../src/web/home.tsx'
import { renderLinkPage } from '../../src/web/links/link-page.tsx'
import { renderReportAsk } from '../../src/web/links/maker/report-ask.tsx'
import { renderLinkProblem } from '../../src/web/links/problem.tsx'
import { renderReport } from '../../src/web/links/report-page.tsx'
import { LOCALES } from '../../src/web/messages/locales.ts'
import { wordsIn } from '../../src/web/messages/words.ts'
import { renderPricing } from '../../src/web/pricing.tsx'
import { getReceiptContent } from '../../src/web/receipt-pdf/content.ts'
import { renderSignIn } from '../../src/web/sign-in/sign-in.tsx'
import { renderOtherAddress, renderSiteProblem } from '../../src/web/site-problem.tsx'
import { PLAIN_PLATFORM, PLATFORM } from '../support/platforms.ts'
import { aCheckout, anAttempt } from './fixtures.ts'
import { aLinkView } from './link-fixtures.ts'
import { readBody, readText } from './reading.ts'
import { BY_STATUS } from './situations.ts'

const words = wordsIn('en')

const frame = (platform: Platform) => ({
  platform,
  path: '/dashboard/account/delete',
  account: 'Nightline Rail',
  role: 'owner' as const,
  accounts: [],
  email: 'owner@nightline.example',
  csrf: '',
  testMode: false,
  otherModeUrl: null,
})

const WAYS = Object.values(PROVIDERS)

/** One page of each kind, by its name. */
const PAGES: Readonly<Record<string, (platform: Platform) => string>> = {
  home: (platform) =>
    renderHome({
      platform,
      testMode: false,
      publicUrl: 'https://pay.example',
      ways: WAYS,
      feePercent: '4.5',
      signUp: 'open',
      linksWithoutAccount: true,
    }),
  pricing: (platform) => renderPricing({ platform, feePercent: '4.5', signUp: 'open', ways: WAYS }),
  'sign-in': (platform) =>
    renderSignIn(platform, {
      to: '/dashboard',
      passkeyOptions: null,
      problem: null,
      demo: false,
      signUp: 'open',
      email: '',
    }),
  dashboard: (platform) => renderForget({ frame: frame(platform), needed: [], errors: {} }),
  'dashboard of a person without an account': (platform) =>
    renderForget({ frame: { ...frame(platform), account: null }, needed: [], errors: {} }),
  documentation: (platform) =>
    renderDocsSearch({ platform, groups: [], path: '/docs/search', language: 'curl' }, '', []),
  checkout: (platform) => renderCheckout({ ...aCheckout(), platform }, words),
  'hand-off': (platform) =>
    renderHandoff({ ...aCheckout(), platform }, words, { ...anAttempt('open'), redirectUrl: '' }),
  receipt: (platform) => renderReceipt({ ...aCheckout(BY_STATUS.succeeded), platform }, words),
  link: (platform) => renderLinkPage({ ...aLinkView(), platform }, words),
  'report of a link': (platform) => renderReport({ platform, title: 'Coffee', path: '/l/x', livemode: true }, words),
  'form for a report': (platform) => renderReportAsk(platform, { link: '', wrong: false }),
  'error of a checkout': (platform) => renderProblem({ platform, problem: 'not_found', back: null }, words),
  'error of a link': (platform) => renderLinkProblem({ platform, problem: 'missing', back: null }, words),
  'error of the site': (platform) => renderSiteProblem('not_found', { platform, status: 404, requestId: 'req_1' }),
  'other address': (platform) => renderOtherAddress(platform, 'https://pay.example/'),
}

const readFoot = (page: string): string => /<footer class="foot.*?<\/footer>/s.exec(page)?.[0] ?? ''

describe.each(Object.entries(PAGES))('The page: %s', (_name, render) => {
  test('the foot links each page and the e-mail address of the platform', () => {
    const foot = readFoot(render(PLATFORM))
    for (const { place, address } of listAddresses(PLATFORM))
      expect(foot).toContain(`href="${place === 'support' ? 'mailto:' : ''}${address}"`)
  })

  test('the page shows the name and the logo of the platform, and not the name of Pinrail', () => {
    const page = render(PLATFORM)
    expect(readText(page)).toContain(PLATFORM.name)
    expect(readBody(page)).toContain(`src="/logos/${PLATFORM.logo}"`)
    expect(page).not.toContain('Pinrail')
  })

  test('the foot shows nothing that is not configured', () => {
    const text = readText(`<body>${readFoot(render(PLAIN_PLATFORM))}`)
    expect(text).not.toMatch(/Imprint|Terms|Privacy|Status|Support/)
    expect(render(PLAIN_PLATFORM)).not.toContain('/logos/')
  })
})

test.each(LOCALES)(
  'the receipt in %s names the platform and prints the addresses, on its page and in its file',
  (locale) => {
    const checkout = { ...aCheckout(BY_STATUS.succeeded), platform: PLATFORM }
    const { foot } = getReceiptContent(checkout, wordsIn(locale))
    const [, paper = ''] = /(<main.*<\/main>)/s.exec(renderReceipt(checkout, wordsIn(locale))) ?? []
    const page = readText(`<body>${paper}`)
    expect(foot.logo).toBe(PLATFORM.logo)
    expect(page).toContain(foot.text)
    expect(foot.text).toContain(PLATFORM.name)
    for (const { address } of listAddresses(PLATFORM)) {
      expect(foot.addresses).toContain(address)
      expect(page).toContain(address)
    }
  },
)

test.each(LOCALES)('the checkout in %s names the links of the platform in its language', (locale) => {
  const { t } = wordsIn(locale)
  const foot = readFoot(renderCheckout({ ...aCheckout(), platform: PLATFORM }, wordsIn(locale)))
  const names = [...foot.matchAll(/<li><a [^>]*>([^<]*)</g)].map(([, name]) => name)
  expect(names).toEqual([
    t('platform.imprint'),
    t('platform.terms'),
    t('platform.privacy'),
    t('platform.status'),
    t('platform.support'),
  ])
})
