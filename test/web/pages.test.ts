import { describe, expect, test } from '@jest/globals'
import { PAYMENT_STATUSES } from '../../src/domain/payment/payment.ts'
import { viewOf } from '../../src/web/checkout/checkout.ts'
import { liveStatus, renderCheckout } from '../../src/web/checkout/page.tsx'
import { renderProblem } from '../../src/web/checkout/problem.tsx'
import { wordsIn } from '../../src/web/messages/words.ts'
import {
  aCheckout,
  anAttempt,
  aUpiAttempt,
  BY_STATUS,
  type CheckoutChanges,
  SITUATIONS,
  TX_HASH,
  UPI_INTENT,
} from './fixtures.ts'

const words = wordsIn('en')
const html = (changes: CheckoutChanges): string => renderCheckout(aCheckout(changes), words)

/** What a reader gets: no tags, no scripts, entities as characters. */
function text(page: string): string {
  const body = page.slice(page.indexOf('<body'))
  return body
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}

const read = (changes: CheckoutChanges): string => text(html(changes))
const EVERY_PAGE = Object.entries<CheckoutChanges>({ ...BY_STATUS, ...SITUATIONS })

describe('what every page has', () => {
  test.each(EVERY_PAGE)('%s: one heading, one main part, the amount and the merchant', (_name, changes) => {
    const page = html(changes)
    expect(page).toMatch(/^<!doctype html><html lang="en" dir="ltr">/)
    expect(page.match(/<h1/g)).toHaveLength(1)
    expect(page.match(/<main/g)).toHaveLength(1)
    expect(text(page)).toContain('Nightline Rail')
    expect(page).toContain('class="amount"')
  })

  test.each(EVERY_PAGE)('%s: nothing inline, nothing from another origin', (_name, changes) => {
    const page = html(changes)
    expect(page).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:/i)
    for (const [, source] of page.matchAll(/(?:src|srcset)="([^"]+)"/g)) expect(source).toMatch(/^\/assets\//)
    for (const [, href] of page.matchAll(/<link[^>]+href="([^"]+)"/g)) expect(href).toMatch(/^\/assets\//)
    for (const [script] of page.matchAll(/<script[^>]*>[^<]*/g))
      expect(script).toMatch(/^<script src="[^"]+" type="module">$/)
  })

  test.each(EVERY_PAGE)('%s: no message is left with a placeholder or without a text', (_name, changes) => {
    expect(read(changes)).not.toMatch(/\{\w+\}|undefined|null|\[object/)
  })

  test('a hostile description, reference and shop name are text and nothing else', () => {
    const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    for (const [, changes] of EVERY_PAGE) {
      const page = html({
        ...changes,
        merchantName: hostile,
        payment: { ...changes.payment, description: hostile, reference: hostile },
      })
      expect(page).not.toContain('<img')
      expect(page.match(/<script/g)).toHaveLength(1)
      expect(text(page)).toContain('<img src=x onerror=alert(1)>')
    }
  })

  test('a shop address that is no web page is not linked', () => {
    const unsafe = 'javascript:alert(1)'
    expect(html({ payment: { status: 'succeeded', successUrl: unsafe } })).not.toContain(unsafe)
    expect(html({ payment: { status: 'expired', cancelUrl: unsafe } })).not.toContain(unsafe)
  })

  test('test mode says that no real money moves, live mode does not', () => {
    expect(read({ payment: { livemode: false } })).toContain('Test mode: no real money moves here.')
    expect(read({})).not.toContain('Test mode')
  })
})

describe('each state has its page', () => {
  test.each(PAYMENT_STATUSES)('%s', (status) => {
    const sentences: Record<(typeof PAYMENT_STATUSES)[number], string> = {
      created: 'How would you like to pay?',
      pending: 'Finish in your banking app',
      processing: 'Your payment has arrived. It is being converted.',
      under_review: 'We are checking this payment Your money is safe.',
      settling: 'The money is on its way to Nightline Rail.',
      succeeded: 'Paid. Thank you!',
      failed: 'This payment did not go through',
      expired: 'This payment has expired The time to pay is over. You have not been charged.',
      canceled: 'This payment was canceled',
      refunded: 'Your money was returned',
    }
    expect(read(BY_STATUS[status])).toContain(sentences[status])
  })

  test.each(PAYMENT_STATUSES)(
    '%s loads itself again without JavaScript only while there is something to wait for',
    (status) => {
      const waits = ['pending', 'processing', 'under_review', 'settling'].includes(status)
      expect(html(BY_STATUS[status]).includes('<noscript><meta http-equiv="refresh" content="3"/></noscript>')).toBe(
        waits,
      )
    },
  )
})

describe('before the payment', () => {
  test('a pinned payment opens the card of its method, with everything a buyer should know', () => {
    const page = read(SITUATIONS['pinned to the banking app'])
    expect(page).toContain('Pay in your banking app')
    expect(page).toContain('Our payment partner’s page, and from there your banking app')
    expect(page).toContain('Usually 20 seconds, rarely more than 2 minutes')
    expect(page).toContain('Our partner may check once who you are.')
    expect(page).toContain('Shows the name of our payment partner, not Nightline Rail')
    expect(page).toContain('You come back here.')
  })

  test('Continue is a form that posts the provider and the method', () => {
    const page = html(SITUATIONS['pinned to the banking app'])
    expect(page).toContain('<form method="post" action="/c/token-of-the-tests/continue"')
    expect(page).toContain('name="provider" value="wallet_app"')
    expect(page).toContain('name="method" value="banking_app"')
  })

  test('UPI names the amount in INR before it is fixed, and says so when the rate is not known', () => {
    expect(read(SITUATIONS['pinned to UPI'])).toContain('You are charged in INR: about ₹4,536.90 at today’s rate.')
    expect(read(SITUATIONS['pinned to UPI without rates'])).toContain('You are charged in INR. The next step shows')
  })

  test('a pin that is not offered in the country opens the picker, with the reason and no error', () => {
    const page = html(SITUATIONS['a pin that is not offered'])
    expect(text(page)).toContain('Not offered in Brazil. Choose another way to pay.')
    expect(text(page)).toContain('How would you like to pay?')
    expect(page).not.toContain('role="alert"')
  })

  test('an amount below the limit of the pin opens the picker, with the limit', () => {
    expect(read(SITUATIONS['a pin with too small an amount'])).toContain('Only for amounts from €6.00.')
  })

  test('without a fallback there is one honest sentence and no picker', () => {
    const page = html(SITUATIONS['a pin that is not offered, without a fallback'])
    expect(text(page)).toContain('Card is not offered in Brazil, and Nightline Rail takes no other way to pay')
    expect(page).not.toContain('class="method"')
    expect(page).not.toContain('/continue')
  })

  test('where nothing works the page says so, with the country', () => {
    expect(read(SITUATIONS['nothing at all'])).toContain(
      'There is no way to pay this amount in this currency from India yet.',
    )
  })

  test('the country can always be corrected, and an unknown one is asked for', () => {
    expect(read({})).toContain('Paying from Germany Change country')
    expect(read(SITUATIONS['a country unknown'])).toContain('Where are you paying from?')
    expect(html({})).toContain('<option value="DE" selected>Germany</option>')
  })

  test('a method that is asked for by a link and not possible leads back to the picker', () => {
    const asked = { choice: { provider: 'card_partner', method: 'online_wallet' } } as const
    expect(read({ asked })).toContain('That way to pay is not possible here. Choose another one.')
  })

  test('a declined attempt says why, that nothing was charged, and lets the buyer try again', () => {
    const page = read(SITUATIONS['a declined attempt'])
    expect(page).toContain('There was not enough money in the account.')
    expect(page).toContain('You have not been charged. Try again, or use another method.')
    expect(page).toContain('Continue Use another method')
  })
})

describe('while the buyer is at the partner', () => {
  test('the order can be reopened, left for another method, and taken to another device', () => {
    const page = html(BY_STATUS.pending)
    expect(page).toContain('href="https://partner.example/pay/1"')
    expect(page).toContain('href="/c/token-of-the-tests?step=pick"')
    expect(page).toContain('aria-label="QR code with the link to this payment of €49.99 to Nightline Rail"')
    expect(page).toContain('value="https://pay.example/c/token-of-the-tests"')
  })

  test('choosing another method says what becomes of the open one', () => {
    const page = read(SITUATIONS['another method while one is open'])
    expect(page).toContain(
      'Your payment by Banking app is closed when you choose another way. Nothing is charged twice.',
    )
  })

  test('an identity check keeps its own page, with the way back to it', () => {
    const page = html(SITUATIONS['an identity check'])
    expect(text(page)).toContain('Your payment stays open and goes on by itself when the check is passed.')
    expect(page).toContain('href="https://partner.example/pay/1"')
  })

  test('UPI shows the exact amount, a named code, the link for the app and the page of the partner', () => {
    const page = html(SITUATIONS['a UPI code'])
    expect(text(page)).toContain('You pay exactly ₹4,536.76')
    expect(page).toContain('role="img" aria-label="UPI QR code: pay ₹4,536.76 to Nightline Rail"')
    expect(page).toContain(`href="${UPI_INTENT.replaceAll('&', '&amp;')}"`)
    expect(page).toContain('href="https://partner.example/pay/1"')
    expect(page).not.toMatch(/name="vpa"|UPI ID/i)
  })

  test('an intent that is no UPI link is not opened', () => {
    const hostile = { ...SITUATIONS['a UPI code'], attempts: [aUpiAttempt({ intentUri: 'javascript:alert(1)' })] }
    expect(html(hostile)).not.toContain('href="javascript:')
  })

  test('an order that is not open yet is not waited for: the buyer may go on', () => {
    const attempts = [anAttempt('opening', { redirectUrl: null })]
    const checkout = aCheckout({ payment: { status: 'pending', provider: 'wallet_app' }, attempts })
    expect(viewOf(checkout).page).toBe('confirm')
  })
})

describe('progress', () => {
  const states = (changes: CheckoutChanges): string[] =>
    [...html(changes).matchAll(/data-state="(\w+)"/g)].map(([, state]) => state ?? '')

  test('the three steps follow the money, and confirming is not paid', () => {
    expect(states(SITUATIONS['being confirmed'])).toEqual(['current', 'todo', 'todo'])
    expect(states(BY_STATUS.processing)).toEqual(['done', 'current', 'todo'])
    expect(states(BY_STATUS.settling)).toEqual(['done', 'done', 'current'])
    expect(states(BY_STATUS.succeeded)).toEqual(['done', 'done', 'done'])
  })

  test('each step says its state in words, and the news in a live region', () => {
    const page = html(BY_STATUS.processing)
    expect(text(page)).toContain('Paid done Converting in progress Sent to merchant to come')
    expect(page).toContain('aria-current="step"')
    expect(page).toMatch(/<p role="status"[^>]*>Your payment has arrived/)
  })

  test('a delayed settlement is said, with the word that the money is safe', () => {
    expect(read(SITUATIONS['a delayed settlement'])).toContain('This takes longer than usual. Your money is safe')
  })

  test('the key of an open page changes when another page is due, and not with each step', () => {
    const key = (changes: CheckoutChanges): string => liveStatus(aCheckout(changes), words).key
    expect(key(BY_STATUS.processing)).toBe(key(BY_STATUS.settling))
    const keys = PAYMENT_STATUSES.filter((status) => status !== 'settling').map((status) => key(BY_STATUS[status]))
    expect(new Set(keys).size).toBe(keys.length)
    expect(key(SITUATIONS['a delayed settlement'])).not.toBe(key(BY_STATUS.settling))
    expect(key(SITUATIONS['an identity check'])).not.toBe(key(BY_STATUS.pending))
  })
})

describe('after the payment', () => {
  test('the receipt has amount, merchant, reference, method, date, payment and transaction', () => {
    const page = html(BY_STATUS.succeeded)
    for (const part of ['€49.99', 'ORDER-1042', 'Banking app', 'Nov 20, 2026', 'pay_01hzy3v7t8e4a9v2b6q5r0c1d2'])
      expect(text(page)).toContain(part)
    expect(page).toContain(`href="https://polygonscan.com/tx/${TX_HASH}"`)
    expect(page).toContain('href="https://shop.example/thanks"')
    expect(text(page)).toContain('Back to Nightline Rail')
  })

  test('a chain without an explorer shows the hash itself', () => {
    expect(read(SITUATIONS['paid late and twice'])).toContain(TX_HASH)
  })

  test('late and second payments are explained', () => {
    const page = read(SITUATIONS['paid late and twice'])
    expect(page).toContain('Your payment arrived late and was accepted.')
    expect(page).toContain('You paid twice.')
  })

  test('an expired payment whose money may still come never says that nothing was charged', () => {
    const page = read(SITUATIONS['expired with an order open'])
    expect(page).toContain('the money is still accepted')
    expect(page).not.toContain('You have not been charged')
  })

  test('an ended page goes on asking only while money may come', () => {
    expect(liveStatus(aCheckout(BY_STATUS.expired), words).poll).toBeNull()
    expect(liveStatus(aCheckout(SITUATIONS['expired with an order open']), words).poll).toBe(10)
    expect(liveStatus(aCheckout(BY_STATUS.succeeded), words).poll).toBeNull()
  })
})

test.each(['not_found', 'bad_request', 'forbidden', 'method_not_allowed', 'unavailable', 'internal', 'busy'] as const)(
  'the problem %s has a page of its own with the same look',
  (problem) => {
    const page = renderProblem(problem, words, 'https://pay.example/c/x')
    expect(page).toContain('role="alert"')
    expect(page).toContain('class="card alone"')
    expect(page).toContain('href="https://pay.example/c/x"')
  },
)
