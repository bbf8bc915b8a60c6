import { describe, expect, test } from '@jest/globals'
import { PAYMENT_STATUSES } from '../../src/domain/payment/payment.ts'
import { renderProblem } from '../../src/web/checkout/problem.tsx'
import { wordsIn } from '../../src/web/messages/words.ts'
import { PLAIN_PLATFORM } from '../support/platforms.ts'
import { anAttempt } from './fixtures.ts'
import { EVERY_PAGE, filledButton, html, read, readText, readTitle } from './reading.ts'
import { BY_STATUS, SITUATIONS } from './situations.ts'

describe('Rules for every page', () => {
  test.each(EVERY_PAGE)(
    'the page %s has one heading, one main part that takes the focus, the amount and the merchant',
    (_name, changes) => {
      const page = html(changes)
      expect(page).toMatch(/^<!doctype html><html lang="en" dir="ltr" /)
      expect(page.match(/<h1/g)).toHaveLength(1)
      expect(page.match(/<main id="main"[^>]* tabIndex="-1"|<main id="main"[^>]* tabindex="-1"/g)).toHaveLength(1)
      expect(readText(page)).toContain(changes.shop?.name ?? 'Nightline Rail')
      expect(page).toMatch(/class="amount( long)?( dim)?"/)
    },
  )

  test.each(EVERY_PAGE)('the page %s has at most one filled button, and at most one note', (_name, changes) => {
    const page = html(changes)
    expect((page.match(/class="button fill"/g) ?? []).length).toBeLessThanOrEqual(1)
    expect((page.match(/class="note /g) ?? []).length).toBeLessThanOrEqual(1)
  })

  test.each(EVERY_PAGE)(
    'the page %s keeps browsers from translating amounts, names, addresses and codes',
    (_name, changes) => {
      const page = html(changes)
      const exact = [...page.matchAll(/<(?:bdi|code|data)[ >][^>]*|<[^>]* class="(?:shop|value|id|cost)"[^>]*/g)]
      expect(exact.length).toBeGreaterThan(1)
      expect(exact.filter(([tag]) => !tag.includes(' translate="no"'))).toEqual([])
    },
  )

  test.each(EVERY_PAGE)('the page %s has nothing inline, and nothing from another origin', (_name, changes) => {
    const page = html(changes)
    expect(page).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:/i)
    for (const [, source] of page.matchAll(/(?:src|srcset)="([^"]+)"/g))
      expect(source).toMatch(/^\/assets\/|^\/c\/token-of-the-tests\/code\.svg$/)
    for (const [, href] of page.matchAll(/<link[^>]+href="([^"]+)"/g)) expect(href).toMatch(/^\/assets\//)
    for (const [script] of page.matchAll(/<script[^>]*>[^<]*/g))
      expect(script).toMatch(/^<script src="[^"]+" type="module"( blocking="render")?>$/)
  })

  test.each(EVERY_PAGE)(
    'the page %s has no placeholder left in a message, and no message without text',
    (_name, changes) => {
      expect(read(changes)).not.toMatch(/\{\w+\}|undefined|null|NaN|\[object/)
      expect(readTitle(changes)).not.toMatch(/\{\w+\}|undefined/)
    },
  )

  test('a hostile description, reference and merchant name are shown as text', () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    for (const [, changes] of EVERY_PAGE) {
      const page = html({
        ...changes,
        shop: { name: hostile },
        payment: { ...changes.payment, description: hostile, reference: hostile },
      })
      expect(page.replaceAll('<img src="/c/token-of-the-tests/code.svg"', '')).not.toContain('<img')
      expect(page.match(/<script/g)).toHaveLength(changes.frame ? 2 : 1)
      expect(readText(page)).toContain('<img src=x onerror=alert(1)>')
    }
  })

  test('a return URL that is not a web page is not linked', () => {
    const unsafe = 'javascript:alert(1)'
    expect(html({ payment: { status: 'succeeded', successUrl: unsafe } })).not.toContain(unsafe)
    expect(html({ payment: { status: 'expired', cancelUrl: unsafe } })).not.toContain(unsafe)
  })

  test('test mode says that no real money moves, and live mode does not', () => {
    expect(read({ payment: { livemode: false } })).toContain('Test No real money moves.')
    expect(read({})).not.toContain('No real money moves')
  })
})

describe('The page of each state', () => {
  const PAGES: Record<(typeof PAYMENT_STATUSES)[number], { says: string; title: string; pin: RegExp }> = {
    created: { says: 'How would you like to pay?', title: 'Pay €49.99 to Nightline Rail', pin: /class="view brand"/ },
    pending: { says: 'Finish at Velanto', title: 'Finish at Velanto: €49.99', pin: /class="view brand"/ },
    processing: { says: 'Your payment is on its way', title: 'On its way: €49.99', pin: /class="view brand"/ },
    under_review: { says: 'We are checking this payment', title: 'Being checked: €49.99', pin: /class="view wait"/ },
    settling: { says: 'Your payment is on its way', title: 'On its way: €49.99', pin: /class="view brand"/ },
    succeeded: { says: 'Paid. Thank you.', title: 'Paid: €49.99', pin: /class="view success"/ },
    failed: { says: 'This payment did not go through', title: 'Did not go through: ', pin: /class="view problem"/ },
    expired: { says: 'This payment has expired', title: 'Expired: €49.99', pin: /class="view quiet"/ },
    canceled: { says: 'This payment was canceled', title: 'Canceled: €49.99', pin: /class="view quiet"/ },
    refunded: { says: 'Your money was returned', title: 'Returned: €49.99', pin: /class="view quiet"/ },
  }

  test.each(PAYMENT_STATUSES)('the page of %s has its sentence, its title and its tone', (status) => {
    const { says, title, pin } = PAGES[status]
    expect(read(BY_STATUS[status])).toContain(says)
    expect(readTitle(BY_STATUS[status])).toContain(title)
    expect(html(BY_STATUS[status])).toMatch(pin)
  })

  test('the final states of a payment have different icons', () => {
    const ends = ['under_review', 'succeeded', 'failed', 'expired', 'canceled', 'refunded'] as const
    const icons = ends.map((status) => /<span class="pin"><svg.*?<\/svg>/.exec(html(BY_STATUS[status]))?.[0])
    expect(new Set(icons).size).toBe(ends.length)
  })

  test.each(PAYMENT_STATUSES)(
    'the page of %s reloads without JavaScript only while there is something to wait for',
    (status) => {
      const waits = ['pending', 'processing', 'under_review', 'settling'].includes(status)
      expect(html(BY_STATUS[status]).includes('<noscript><meta http-equiv="refresh" content="3"/></noscript>')).toBe(
        waits,
      )
    },
  )
})

describe('Before the payment', () => {
  test('a pinned payment opens the plan of its method, with everything a buyer should know', () => {
    const page = read(SITUATIONS['pinned to the banking app'])
    expect(page).toContain('Pay in your banking app')
    expect(page).toContain('Choose your bank at Velanto : now Approve in its app or website, about 20 seconds.')
    expect(page).toContain('Velanto may ask for ID, once.')
    expect(page).toContain('Your statement will show VELANTO')
    expect(page).toContain('This link always shows where your payment is.')
    expect(filledButton(SITUATIONS['pinned to the banking app'])).toBe('Continue to Velanto · €49.99')
  })

  test('Continue is a form that posts the provider and the method', () => {
    const page = html(SITUATIONS['pinned to the banking app'])
    expect(page).toContain('method="post" action="/c/token-of-the-tests/continue"')
    expect(page).toContain('name="provider" value="wallet_app"')
    expect(page).toContain('name="method" value="banking_app"')
  })

  test('UPI shows the amount in INR before it is fixed, and says so if the rate is not known', () => {
    expect(read(SITUATIONS['pinned to UPI'])).toContain('Charged in Indian rupees about ₹4,536.90')
    expect(read(SITUATIONS['pinned to UPI without rates'])).toContain('Charged in Indian rupees fixed in the next step')
  })

  test('a pinned card in Brazil says that it is charged in rupees, and not that cards are not offered', () => {
    const page = read({ payment: { provider: 'card_partner' }, country: { code: 'BR', source: 'header' } })
    expect(page).toContain('Charged in Indian rupees')
    expect(page).not.toContain('is not offered')
  })

  test('the plan of a card names the identity check that the partner may ask for', () => {
    const asked = { choice: { provider: 'card_partner', method: 'card' } } as const
    expect(read({ asked, country: { code: 'US', source: 'header' } })).toContain('First time only')
  })

  test('a buyer who returns from the identity check reads that it is checked, and not that they must finish it', () => {
    const attempts = [anAttempt('verification_required')]
    const payment = { status: 'pending', exception: 'verification_required' } as const
    expect(read({ payment, attempts, cameBackAt: '2026-11-20T12:01:25.000Z' })).toContain('Checking with Velanto')
    expect(read({ payment, attempts })).toContain('A quick identity check')
  })

  test('a pin that is not offered in the country opens the picker, with what is not offered and where, and no error', () => {
    const page = html(SITUATIONS['a pin that is not offered'])
    expect(readText(page)).toContain(
      'Paying by banking app is not offered in Brazil. You can pay in one of these ways.',
    )
    expect(readText(page)).toContain('How would you like to pay?')
    expect(page).not.toContain('role="alert"')
    expect(page).toContain('<div class="note brand">')
  })

  test('a buyer who is charged in another currency reads the reason, and why the other methods are missing', () => {
    const page = read(SITUATIONS['a pin that is not offered'])
    expect(page).toContain('In Indian rupees, about 1 minute')
    expect(page).toContain('Indora, our partner for Brazil, charges in Indian rupees.')
    expect(page).toContain('Banking app Only in the EU and EEA')
    expect(page).toContain('Device wallet Only in the US and the EU')
    expect(page).toContain('UPI Only in India')
  })

  test('an amount below the limit of the pin opens the picker, with the limit', () => {
    expect(read(SITUATIONS['a pin with too small an amount'])).toContain(
      'Paying by banking app is available for amounts of €6.00 or more.',
    )
  })

  test('without a fallback the page gives the reason in one sentence and has no picker', () => {
    const page = html(SITUATIONS['a pin that is not offered, without a fallback'])
    expect(readText(page)).toContain(
      'Paying by card is not offered in Brazil. Nightline Rail accepts no other way to pay for this payment.',
    )
    expect(page).not.toContain('class="way"')
    expect(page).not.toContain('/continue')
  })

  test('if no method works, the page says so, with the country', () => {
    expect(read(SITUATIONS['nothing at all'])).toContain(
      'There is no way to pay this amount in this currency from India yet.',
    )
  })

  test('the buyer can always correct the country, on the only page that has the list', () => {
    expect(read({})).toContain('Paying from Germany Change')
    expect(html({})).toContain('href="/c/token-of-the-tests?step=country"')
    expect(read(SITUATIONS['a country unknown'])).toContain('Choose your country')
    expect(html(SITUATIONS['the country to be corrected'])).toContain('<option value="DE" selected>Germany</option>')
    for (const [, changes] of EVERY_PAGE)
      if (changes.asked?.step !== 'country') expect(html(changes)).not.toContain('<option value="AF"')
  })

  test('correcting the country keeps the method that was shown', () => {
    const asked = { choice: { provider: 'card_partner', method: 'card' } } as const
    expect(html({ asked })).toContain('href="/c/token-of-the-tests?step=country&amp;method=card_partner.card"')
    const page = html(SITUATIONS['the country to be corrected'])
    expect(page).toContain('<input type="hidden" name="chosen" value="card_partner.card"/>')
    expect(page).toContain('href="/c/token-of-the-tests?method=card_partner.card"')
  })

  test('a linked method that is not possible leads back to the picker', () => {
    const asked = { choice: { provider: 'card_partner', method: 'online_wallet' } } as const
    expect(read({ asked })).toContain(
      'Paying with an online wallet is not offered in Germany. You can pay in one of these ways.',
    )
  })

  test('a chosen method that another partner offers in the new country stays chosen', () => {
    const asked = { choice: { provider: 'card_partner', method: 'card' } } as const
    const country = { code: 'BR', source: 'buyer' } as const
    expect(filledButton({ asked, country })).toBe('Continue to Indora · about ₹4,536.90')
  })

  test('more than three methods are folded behind the best two', () => {
    const page = html(SITUATIONS['USDC too'])
    const [open = '', folded = ''] = page.split('More ways to pay (2)')
    expect(open.match(/class="way"/g)).toHaveLength(2)
    expect(folded.match(/class="way"/g)).toHaveLength(2)
    expect(html({})).not.toContain('More ways to pay')
  })

  test('the page of a payment that expires soon shows the remaining minutes', () => {
    expect(read(SITUATIONS['five minutes left'])).toContain('5 minutes left. This payment closes at 13:00')
  })

  test('a buyer can request more time on the full page, and not in a frame of the merchant', () => {
    const closing = SITUATIONS['five minutes left']
    expect(html(closing)).toContain('/extend')
    expect(html({ ...closing, ...SITUATIONS['in a frame of the shop'] })).not.toContain('/extend')
  })
})

test.each(['not_found', 'bad_request', 'forbidden', 'method_not_allowed', 'unavailable', 'internal', 'busy'] as const)(
  'the problem %s has its own page with the same look',
  (problem) => {
    const page = renderProblem({ platform: PLAIN_PLATFORM, problem, back: 'https://pay.example/c/x' }, wordsIn('en'))
    expect(page).toContain('role="alert"')
    expect(page).toContain('class="sheet alone"')
    expect(page).toContain('href="https://pay.example/c/x"')
  },
)
