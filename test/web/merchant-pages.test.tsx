import { describe, expect, test } from '@jest/globals'
import { renderToString } from 'preact-render-to-string'
import { listOffered } from '../../src/domain/partner/offering.ts'
import { getAmounts } from '../../src/web/checkout/amounts.ts'
import type { Checkout } from '../../src/web/checkout/checkout.ts'
import { renderCheckout, renderReceipt } from '../../src/web/checkout/page.tsx'
import { moneyFacts } from '../../src/web/checkout/screens/receipt-lines.tsx'
import { renderWebhook, type WebhookView } from '../../src/web/dashboard/developers/webhooks/webhook.tsx'
import { readFacts } from '../../src/web/dashboard/payment/facts.tsx'
import { describeStepToMerchant, methodText, statusLook } from '../../src/web/dashboard/payment-words.tsx'
import { renderHome } from '../../src/web/home.tsx'
import { wordsIn } from '../../src/web/messages/words.ts'
import { renderPricing } from '../../src/web/pricing.tsx'
import { getReceiptContent } from '../../src/web/receipt-pdf/content.ts'
import { renderSiteProblem } from '../../src/web/site-problem.tsx'
import { createTestOffering } from '../support/offering.ts'
import { PLAIN_PLATFORM, PLATFORM } from '../support/platforms.ts'
import {
  aCheckout,
  anAttempt,
  aPayment,
  aSucceededPayment,
  aUsdcAttempt,
  type CheckoutChanges,
  TX_HASH,
} from './fixtures.ts'
import { SITUATIONS } from './situations.ts'

const second = anAttempt('paid', { id: 'att_2', provider: 'card_partner', method: 'card' })
const words = wordsIn('en')
const NONE = { short: null, surplus: [], returned: [], extra: null }

const gone = anAttempt('refunded', { id: 'att_2', provider: 'card_partner', method: 'card' })

describe('The words about a payment', () => {
  test('a payment with too little money reads “Paid in part”, with what is missing and what happens next', () => {
    const changes = { status: 'under_review', statusReason: 'too_little' } as const
    const { payment, ...money } = aCheckout({ payment: changes, attempts: [anAttempt('paid', { held: '2000' })] })
    const amounts = getAmounts({ payment, ...money })
    expect(statusLook(payment).word).toBe('Paid in part')
    expect(describeStepToMerchant(payment, amounts)).toMatch(
      /paid 20\.00 EUR, and 29\.99 EUR is missing.*missing 29\.99 EUR.*continues automatically/,
    )
    const open = aPayment({ status: 'pending', exception: 'underpaid' })
    expect([statusLook(open).word, methodText(open)]).toEqual(['Paid in part', 'USDC'])
    expect(describeStepToMerchant(open, amounts)).toMatch(
      /can pay the missing 29\.99 EUR at the checkout until 21 November 2026/,
    )
  })

  test('the text never calls a held second payment done, and still mentions a returned one', () => {
    const payment = { status: 'succeeded' } as const
    const wordsWith = (changes: CheckoutChanges) => {
      const checkout = aCheckout({ payment, ...changes })
      return describeStepToMerchant(checkout.payment, getAmounts(checkout))
    }
    expect(wordsWith({ attempts: [anAttempt('paid'), second] })).toMatch(
      /final in your wallet\. Another payment of 49\.99 EUR.*return it/,
    )
    const returned = { attempts: [anAttempt('paid'), gone], givenBack: { att_2: 4999n } }
    expect(wordsWith(returned)).toMatch(/Another payment of 49\.99 EUR went back/)
    const outside = anAttempt('paid', { ...second, held: '4999', outside: '4999' })
    expect(wordsWith({ attempts: [anAttempt('paid'), outside] })).toMatch(/Another payment of 49\.99 EUR went back/)
    expect(wordsWith({ attempts: [anAttempt('paid')] })).toMatch(/Nothing is left to do\.$/)
  })

  test('the text says that money above the price is in the wallet, and what the merchant can do with it', () => {
    const checkout = aCheckout(SITUATIONS['more than the price'])
    const text = describeStepToMerchant(checkout.payment, getAmounts(checkout))
    expect(text).toMatch(/paid 24\.86 EUR more than was asked\. It reached your wallet with the rest\. Return it/)
    expect(text).not.toContain('Nothing is left to do')
  })

  test('the merchant and the buyer read the same about an underpaid payment: who decides, and what happens if the rest arrives', () => {
    const checkout = aCheckout({
      payment: { status: 'under_review', statusReason: 'too_little' },
      attempts: [anAttempt('paid', { held: '2000' })],
    })
    const merchant = describeStepToMerchant(checkout.payment, getAmounts(checkout))
    const buyer = renderCheckout(checkout, words)
    for (const text of [merchant, buyer]) {
      expect(text).toMatch(/(We accept|Our team will accept) it or return it to /)
      expect(text).toMatch(/If the (missing 29\.99 EUR|rest) arrives with the same order, the payment continues auto/)
    }
    expect([merchant.includes('should not pay again'), buyer.includes('don’t pay again')]).toEqual([true, true])
  })

  test('a payment under review never repeats the texts for operators', () => {
    const review = { reason: 'withheld', attemptId: null, text: 'for operators only' }
    const payment = aPayment({ status: 'under_review', statusReason: 'withheld', reviews: [review] })
    expect(describeStepToMerchant(payment, NONE)).toBe(
      'The partner withholds the money while it checks the payment. Do not ship yet. We are reviewing it.',
    )
    const late = aSucceededPayment({ reviews: [{ ...review, reason: 'loss' }] })
    expect(describeStepToMerchant(late, NONE)).toMatch(/You keep what you received\. Nothing is left to do\.$/)
  })

  test('the text says that a payment with a void payout pays nothing, whatever else is under review', () => {
    const payment = aPayment({ status: 'under_review', payout: 'void', statusReason: 'excess' })
    expect(describeStepToMerchant(payment, NONE)).toContain('You receive nothing for this payment')
  })

  test('a payment names the method that the merchant pinned before the buyer has chosen', () => {
    expect(methodText(aPayment({ provider: 'card_partner' }))).toBe('Card')
    expect(methodText(aPayment())).toBeNull()
  })
})

describe('The buyer’s receipt', () => {
  const shown = (checkout: Checkout) => moneyFacts(checkout, words).map(({ name, value }) => `${name}: ${value}`)
  const paidWith = (changes: CheckoutChanges) => aCheckout({ payment: { status: 'succeeded' }, ...changes })

  test('the receipt lists what of a second payment is held and what went back, on the page and in the PDF', () => {
    const held = paidWith({ attempts: [anAttempt('paid'), second] })
    expect(shown(held)).toEqual(['Held for you: €49.99, at Cardora'])
    const returned = paidWith({ attempts: [anAttempt('paid'), gone], givenBack: { att_2: 4999n } })
    expect(shown(returned)).toEqual(['Returned to you: €49.99, at Cardora'])
    const facts = getReceiptContent(returned, words).facts.map(({ name, value }) => `${name}: ${value.text}`)
    expect(facts).toContain('Returned to you: €49.99, at Cardora')
  })

  test('the receipt shows money that arrived after the sale of the same order, until the buyer has it back', () => {
    expect(shown(paidWith({ attempts: [anAttempt('paid', { held: '5999' })] }))).toEqual([
      'Held for you: €10.00, at Velanto',
    ])
    expect(shown(paidWith({ attempts: [anAttempt('paid', { held: '5999', outside: '1000' })] }))).toEqual([
      'Returned to you: €10.00, at Velanto',
    ])
  })

  test('the receipt names held USDC as USDC, for the buyer and the merchant, and names no bank', () => {
    const usdc = aUsdcAttempt({ id: 'att_2', status: 'paid', held: '29150000' })
    const held = paidWith({ attempts: [anAttempt('paid'), usdc] })
    expect(shown(held)).toEqual(['Held for you: 29.15 USDC'])
    expect(describeStepToMerchant(held.payment, getAmounts(held))).toContain('Another payment of 29.150000 USDC')
    const page = renderCheckout(held, words)
    expect(page).toContain('We are holding the other 29.15 USDC for you')
    expect(page).not.toMatch(/€24\.99|your bank/)
    const expired = { payment: { status: 'expired', listenEnded: true }, attempts: [usdc] } as const
    const closed = renderCheckout(aCheckout(expired), words)
    expect(closed).toContain('29.15 USDC')
    expect(closed).not.toMatch(/€24\.99|your bank/)
    const refunded = {
      payment: { status: 'refunded', payout: 'void' },
      attempts: [aUsdcAttempt({ returned: true })],
    } as const
    expect(renderCheckout(aCheckout(refunded), words)).not.toContain('your bank')
  })

  test('the receipt is silent about dust at the address of a payment that took other money', () => {
    const usdc = aUsdcAttempt({ id: 'att_2', status: 'paid', held: '9999' })
    expect(shown(paidWith({ attempts: [anAttempt('paid'), usdc] }))).toEqual([])
  })

  test('the receipt says that a smaller amount was accepted as the whole', () => {
    const confirmed = { minor: '4000', currency: 'EUR' } as const
    const accepted = aCheckout({
      payment: { status: 'succeeded', confirmed },
      attempts: [anAttempt('paid', { held: '4000' })],
    })
    expect(shown(accepted)).toEqual(['Accepted as paid in full: €40.00'])
    expect(shown(paidWith({ attempts: [anAttempt('paid')] }))).toEqual([])
  })

  test('the receipt says that the bank has reversed money since, and how much', () => {
    const readStatus = (checkout: Checkout) =>
      getReceiptContent(checkout, words).facts.find(({ name }) => name === 'Status')?.value.text
    const lost = paidWith({ attempts: [anAttempt('paid', { held: '1999' })] })
    expect(shown(lost)).toEqual(['Charged back by the bank: €30.00'])
    expect(readStatus(lost)).toBe('Charged back by the bank')
    expect(renderReceipt(lost, words)).toMatch(/€30\.00.*Status<\/dt><dd>Charged back by the bank/)
    expect(readStatus(paidWith({ attempts: [anAttempt('paid')] }))).toBe('Paid and delivered to the shop')
  })
})

describe('The facts of a timeline entry', () => {
  const payment = aSucceededPayment({
    usdc: { gross: '57846854', fee: '2603109', net: '55243745' },
    rate: { rate: '1.157168', source: 'test', lockedAt: '2026-11-20T12:03:00.000Z' },
  })
  const endpoints = new Map([['we_1', 'hooks.shop.example']])
  const factsAt = (kind: string, data: Record<string, unknown>, of = payment) => {
    const entry = { at: '', kind, to_status: null, actor: 'system', message: '', data }
    const { facts, rest } = readFacts(entry, { payment: of, endpoints })
    return { text: renderToString(<p>{facts.map((fact) => [fact, ' · '])}</p>), rest }
  }

  test('the facts of a conversion are the merchant’s figures, as in the Money card', () => {
    const { text, rest } = factsAt('payment.converted', { reference: 'fill_1', gross_micro: '57846854' })
    expect(text).toContain('57.846854 USDC · 1 EUR = 1.157168 USDC · Fee 2.603109 USDC')
    expect(rest).toEqual({})
  })

  test('the facts of a conversion give the rate of the currency that the buyer was charged in', () => {
    const paidByUpi = { ...payment, confirmed: { minor: '486240', currency: 'INR' } as const }
    expect(factsAt('payment.converted', {}, paidByUpi).text).toContain('1 INR = 1.157168 USDC')
    expect(factsAt('payment.rate_locked', { rate: '0.0119' }, paidByUpi).text).toContain('1 INR = 0.0119 USDC')
  })

  test('the facts of an entry link to the endpoint, the delivery, the event, the key and the explorer', () => {
    const tried = { event: 'evt_1', endpoint: 'we_1', attempt: 2, response_status: 401, error: null }
    expect(factsAt('webhook.attempt', tried).text).toMatch(
      /Attempt 2 · Responded 401 · .*href="\/dashboard\/webhooks\/we_1".*hooks\.shop\.example.*webhooks\/we_1\/deliveries\/evt_1"/,
    )
    expect(factsAt('event.recorded', { event: 'evt_1', type: 'a', sequence: 1 }).text).toContain(
      '/dashboard/events/evt_1',
    )
    expect(factsAt('payment.created', { key: 'key_1' }).text).toMatch(/49\.99 EUR.*\/dashboard\/keys\/key_1/)
    const final = factsAt('payment.succeeded', { tx_hash: TX_HASH, block_number: '78412755' })
    expect(final.text).toContain(`Block 78,412,755 · <a href="https://polygonscan.com/tx/${TX_HASH}"`)
  })

  test('the facts of an entry show the amount that arrived, and unknown facts are in the fold', () => {
    const data = { attempt_id: 'att_1', provider: 'wallet_app', asset: 'EUR', units: '4999', held: '4999', surprise: 7 }
    const { text, rest } = factsAt('payment.money_came', data)
    expect(text).toContain('49.99 EUR · Banking app')
    expect(rest).toEqual({ surprise: 7 })
  })
})

test('an endpoint that answers 401 is shown as refusing, with the five usual causes', () => {
  const tried = {
    number: 1,
    at: '2026-11-20T12:00:00.000Z',
    durationMs: 12,
    headers: null,
    responseBody: 'no',
    error: null,
  }
  const page = (status: number | null): string =>
    renderWebhook({
      frame: {
        path: '',
        account: 'A',
        role: 'owner',
        accounts: [],
        email: '',
        csrf: '',
        testMode: true,
        otherModeUrl: null,
        platform: PLAIN_PLATFORM,
      },
      endpoint: {
        id: 'we_1',
        url: 'https://shop.example/hooks',
        description: null,
        format: 'standard',
        events: ['*'],
        disabledAt: null,
        disabledReason: null,
        failingSince: '2026-11-20T12:00:00.000Z',
        previousSecretUntil: null,
      },
      health: {
        tried: 1,
        delivered: 0,
        medianMs: 1,
        slowestMs: 1,
        waiting: 1,
        oldestWaiting: null,
        failed: 0,
        hours: [],
      },
      deliveries: [
        {
          event: 'evt_1',
          type: 'payment.succeeded',
          status: 'pending',
          attempts: 1,
          createdAt: '2026-11-20T12:00:00.000Z',
          payment: { id: 'pay_1', reference: 'Order 7' },
          nextTry: '2026-11-20T12:00:30.000Z',
          log: [{ ...tried, status, error: status === null ? 'timeout' : null }],
        },
      ],
      show: 'all',
      older: null,
      mayChange: false,
      language: 'typescript',
      problem: null,
      now: '2026-11-20T12:01:00.000Z',
      publicUrl: 'https://pay.example',
    } satisfies WebhookView)
  const refused = page(401)
  expect(refused).toContain('Refused with 401')
  expect(refused).not.toContain('Nothing arrived')
  expect(refused.match(/<ol class="plain-steps">.*?<\/ol>/s)?.[0].match(/<li>/g)).toHaveLength(5)
  expect(refused).toMatch(/<td[^>]*>Order 7<.*about <time datetime="2026-11-20T12:00:30/s)
  expect([page(503).includes('plain-steps'), page(null).includes('No response (timeout)')]).toEqual([false, true])
  expect(page(503)).toContain('Your server took')
  expect(page(null)).toContain('Your server did not respond within')
  expect(page(null)).not.toContain('Your server took')
})

test.each([
  ['help@pinrail.example', '<a href="mailto:help@pinrail.example">Contact support</a>'],
  [null, '>Contact support with the request id <code'],
])('a page for a failure names the support and the request id if the address is %s', (support, text) => {
  const platform = { ...PLAIN_PLATFORM, support }
  expect(renderSiteProblem('internal', { status: 500, requestId: 'req_1', platform })).toContain(text)
})

describe('The home page', () => {
  const view = {
    testMode: false,
    publicUrl: 'https://pay.example',
    ways: listOffered(createTestOffering({}, { crypto: true })),
    feePercent: '4.5',
    signUp: 'open' as const,
    linksWithoutAccount: true,
    platform: PLATFORM,
  }

  test('the home page has the values, a call that works, and every method with its limits', () => {
    const html = renderHome(view)
    for (const text of [
      '4.5%',
      '32 countries',
      'Exactly once',
      'https://pay.example/v1/payments',
      '100,000 INR',
      'Everywhere',
    ])
      expect(html).toContain(text)
    const body = /-d &#39;(\{.*?\})&#39;|-d '(\{.*?\})'/s.exec(html)
    expect(JSON.parse((body?.[1] ?? body?.[2] ?? '').replaceAll('&quot;', '"'))).toMatchObject({
      amount: '49.90',
      currency: 'EUR',
    })
  })

  test('the home page shows the fee of the deployment, and computes its example with it', () => {
    const html = renderHome({ ...view, feePercent: '3' })
    for (const text of ['3%', 'Our fee: 1.736477', '56.146097 USDC']) expect(html).toContain(text)
    expect(html).not.toContain('4.5%')
  })

  test('the home page and the footer link to the pricing page', () => {
    expect(renderHome(view).match(/href="\/pricing"/g)?.length).toBeGreaterThanOrEqual(3)
  })

  test('the home page does not mention USDC if it is off', () => {
    const html = renderHome({ ...view, ways: listOffered(createTestOffering()) })
    for (const text of ['Everywhere', 'USDC anywhere']) expect([text, html.includes(text)]).toEqual([text, false])
  })
})

describe('The pricing page', () => {
  const view = {
    platform: PLAIN_PLATFORM,
    feePercent: '4.5',
    signUp: 'open' as const,
    ways: listOffered(createTestOffering({}, { crypto: true })),
  }

  test('the pricing page offers an account only where anybody can create one', () => {
    const html = (['open', 'invited', 'closed'] as const).map((signUp) => renderPricing({ ...view, signUp }))
    expect(html.map((page) => page.includes('Create a free account'))).toEqual([true, false, false])
  })

  test('the pricing page has the fee, examples that add up, and the limits of each way to pay', () => {
    const html = renderPricing(view)
    for (const text of ['4.5% of each payment', '100.000000', '4.500000', '95.500000', '100,000 INR'])
      expect(html).toContain(text)
  })

  test('the pricing page does not list USDC as a way to pay if it is off', () => {
    expect(
      [renderPricing(view), renderPricing({ ...view, ways: listOffered(createTestOffering()) })].map((html) =>
        html.includes('Everywhere'),
      ),
    ).toEqual([true, false])
  })
})
