import { describe, expect, test } from '@jest/globals'
import { PAYMENT_STATUSES } from '../../src/domain/payment/payment.ts'
import type { Payment } from '../../src/domain/payment/payment-object.ts'
import { liveStatus } from '../../src/web/checkout/live.ts'
import { renderReceipt } from '../../src/web/checkout/page.tsx'
import { getView } from '../../src/web/checkout/view.ts'
import { wordsIn } from '../../src/web/messages/words.ts'
import { aCheckout, anAttempt, aUpiAttempt, type CheckoutChanges, TX_HASH, UPI_INTENT } from './fixtures.ts'
import { filledButton, html, read, readText, readTitle } from './reading.ts'
import { BY_STATUS, SITUATIONS } from './situations.ts'

/** All elements that let a buyer pay once more. */
const PAYS_AGAIN = /\/continue|partner\.example|Reopen|Open Velanto again|Continue to/

describe('While the buyer is at the partner', () => {
  test('a buyer with an open order can reopen it, choose another method or continue on a phone, and no button is filled', () => {
    const page = html(BY_STATUS.pending)
    expect(page).toContain('<a class="button" href="https://partner.example/pay/1">')
    expect(page).toContain('href="/c/token-of-the-tests?step=pick"')
    expect(page).toContain('alt="QR code with the link to this payment of €49.99 to Nightline Rail"')
    expect(page).toContain('data-copy="https://pay.example/c/token-of-the-tests"')
    expect(filledButton(BY_STATUS.pending)).toBeNull()
  })

  test('the picker warns that an order is open, and another choice asks before it closes that order', () => {
    expect(read(SITUATIONS['another method while one is open'])).toContain(
      'Your payment is open at Velanto. If you choose another way to pay, do not pay there as well.',
    )
    const chosen = SITUATIONS['another method chosen while one is open']
    expect(read(chosen)).toContain(
      'Already open at Velanto Finish there, or close it first. Once it is closed, do not pay there.',
    )
    expect(filledButton(chosen)).toBe('Continue at Velanto · €49.99')
    expect(read(chosen)).toContain('Close it and pay by card')
  })

  test('an identity check keeps its own page, with the way back to it', () => {
    const page = html(SITUATIONS['an identity check'])
    expect(readText(page)).toContain('Velanto asks new customers for ID, once. Your payment waits until 21 Nov, 13:00')
    expect(page).toContain('href="https://partner.example/pay/1"')
  })

  test('an order that is not open yet does not block the buyer, who can continue', () => {
    const attempts = [anAttempt('opening', { redirectUrl: null })]
    const checkout = aCheckout({ payment: { status: 'pending', provider: 'wallet_app' }, attempts })
    expect(getView(checkout).page).toBe('confirm')
  })
})

describe('UPI', () => {
  test('UPI on a desktop is a named code and never a link to open an app there', () => {
    const page = html(SITUATIONS['a UPI code'])
    expect(readText(page)).toContain('Scan to pay ₹4,536.76')
    expect(page).toContain('role="img" aria-label="UPI QR code: pay ₹4,536.76 to Nightline Rail"')
    expect(page).not.toContain('href="upi:')
    expect(page).toContain('href="https://partner.example/pay/1"')
    expect(page).not.toMatch(/name="vpa"|UPI ID/i)
  })

  test('UPI shows a code and no link to the partner’s page if the partner gives only a UPI link', () => {
    const url = 'https://pay.example/c/token-of-the-tests'
    const page = html({ ...SITUATIONS['a UPI code'], attempts: [aUpiAttempt({ redirectUrl: url })] })
    expect(page).toContain('role="img" aria-label="UPI QR code: pay ₹4,536.76 to Nightline Rail"')
    expect(page).not.toContain(`href="${url}"`)
    expect(readText(page)).not.toContain('Pay on the page of')
  })

  test.each(['a UPI code on Android', 'a UPI code on an iPhone'] as const)(
    'UPI on a phone shows no code to scan: %s',
    (name) => {
      expect(read(SITUATIONS[name])).not.toMatch(/scan/i)
    },
  )

  test('UPI on Android opens the app, with the amount', () => {
    expect(filledButton(SITUATIONS['a UPI code on Android'])).toBe('Open my UPI app · ₹4,536.76')
    expect(html(SITUATIONS['a UPI code on Android'])).toContain(`href="${UPI_INTENT.replaceAll('&', '&amp;')}"`)
  })

  test('UPI on an iPhone has a row for each app, which opens with the same facts', () => {
    const page = html(SITUATIONS['a UPI code on an iPhone'])
    const query = UPI_INTENT.slice(UPI_INTENT.indexOf('?')).replaceAll('&', '&amp;')
    expect(page.match(/class="way one-line"/g)?.length).toBeGreaterThan(2)
    for (const [, opens] of page.matchAll(/class="way one-line" href="([^"]+)"/g))
      expect(opens).toMatch(/^[a-z]+:\/\/(upi\/)?pay\?/)
    expect(page).toContain(`phonepe://pay${query}`)
  })

  test.each(['desktop', 'android', 'ios'] as const)(
    'UPI on %s does not open a link that is not a UPI link',
    (device) => {
      const attempts = [aUpiAttempt({ intentUri: 'javascript:alert(1)?x' })]
      const page = html({ ...SITUATIONS['a UPI code'], attempts, device })
      expect(page).not.toContain('href="javascript:')
      expect(page).not.toContain('phonepe:')
    },
  )
})

describe('Back at the checkout', () => {
  test('the page says that it is checking, and offers nothing that looks like paying again', () => {
    const changes = SITUATIONS['back from the partner']
    expect(read(changes)).toContain('Checking with Velanto…')
    expect(read(changes)).toContain('Please don’t pay again while we check.')
    expect(readTitle(changes)).toBe('Checking with Velanto: €49.99 to Nightline Rail')
    expect(html(changes)).not.toMatch(PAYS_AGAIN)
    expect(html(changes).match(/<\w+[^>]* class="button[^>]*>|<a class="button[^>]*>/g)).toEqual([
      '<a class="button text" href="https://shop.example/thanks">',
    ])
  })

  test('after ten seconds the page has an outlined button to the partner, and no filled button', () => {
    const changes = SITUATIONS['back from the partner for a while']
    expect(read(changes)).toContain('Still checking with Velanto…')
    expect(html(changes)).toContain('<a class="button" href="https://partner.example/pay/1">')
    expect(filledButton(changes)).toBeNull()
  })

  test('the page polls every second, and changes after ten seconds', () => {
    const first = liveStatus(aCheckout(SITUATIONS['back from the partner']))
    expect(first).toMatchObject({ poll: 1, url: '/c/token-of-the-tests?back=1795176088' })
    expect(liveStatus(aCheckout(SITUATIONS['back from the partner for a while'])).key).not.toBe(first.key)
  })

  test('a buyer who did not pay reads that nothing was charged', () => {
    const changes = SITUATIONS['back from the partner unpaid']
    expect(read(changes)).toContain('You came back from Velanto without paying. Nothing was charged.')
    expect(readTitle(changes)).toBe('Not paid yet: €49.99 to Nightline Rail')
    expect(filledButton(changes)).toBe('Continue to Velanto · €49.99')
  })

  test('a decline shows the reason, that nothing was charged, and the next best method first', () => {
    const changes = SITUATIONS['a declined attempt']
    expect(read(changes)).toContain(
      'Your bank declined this payment Nothing was charged. Velanto gave this reason: not enough money in the account.',
    )
    expect(filledButton(changes)).toBe('Pay by card instead · €49.99')
    expect(read(changes)).toContain('Try again at Velanto')
    expect(html(changes)).not.toContain('partner.example')
  })
})

describe('After the money has arrived', () => {
  const states = (changes: CheckoutChanges): string[] =>
    [...html(changes).matchAll(/<li class="(past|now|todo|maybe)"/g)].map(([, state]) => state ?? '')

  test.each(['processing', 'settling', 'under_review', 'succeeded'] as const)(
    'nothing on the page leads to paying again: %s',
    (status) => expect(html(BY_STATUS[status])).not.toMatch(PAYS_AGAIN),
  )

  test('the stops follow the money, and a confirming payment is not paid', () => {
    expect(states(SITUATIONS['being confirmed'])).toEqual(['now', 'todo', 'todo'])
    expect(read(SITUATIONS['being confirmed'])).not.toContain('You paid')
    expect(states(BY_STATUS.processing)).toEqual(['past', 'now', 'todo'])
    expect(states(BY_STATUS.settling)).toEqual(['past', 'past', 'now'])
    expect(states(BY_STATUS.succeeded)).toEqual(['past', 'past', 'past'])
  })

  test('each stop shows its state in words and its time, and the head is a live region', () => {
    const page = html(BY_STATUS.processing)
    expect(readText(page)).toContain('Paid : done 13:03:00 €49.99 at Velanto Converting : now since 13:03:00')
    expect(page).toContain('aria-current="step"')
    expect(page).toContain('<div class="head" role="status">')
  })

  test('a delayed settlement is shown, with the assurance that the money is safe', () => {
    expect(read(SITUATIONS['a delayed settlement'])).toContain('This takes longer than usual. Your money is safe')
  })

  // The rail must not end with "Sent to" for money that goes back.
  test('a void payout is not sent to the merchant: its money goes back', () => {
    const page = (payout: Payment['payout']) =>
      read({ ...BY_STATUS.settling, payment: { ...BY_STATUS.settling.payment, status: 'under_review', payout } })
    expect(page('void')).toContain('Our team arranges the return')
    expect(page('void')).toContain('Returned the way you paid')
    // The direction is not known yet.
    for (const payout of ['void', 'voiding'] as const) expect(page(payout)).not.toContain('Sent to')
    expect(page('stopped')).toContain('Sent to Nightline Rail')
    // The panel must not say that it was paid.
    expect(page('voiding')).not.toContain('You paid')
    expect(page('stopped')).toContain('You paid')
  })

  test('money that goes back before it was sold is not sent to the merchant', () => {
    const payment = { status: 'under_review', statusReason: 'giving_back' } as const
    const page = read({ payment, attempts: [anAttempt('paid', { back: 'asked' })] })
    expect(page).toContain('Returned the way you paid')
    expect(page).not.toContain('Sent to')
  })

  test('too little money shows how much arrived and how much is missing', () => {
    expect(read(SITUATIONS['too little money'])).toContain('Arrived €25.00 Missing €24.99')
  })

  test('the key of an open page changes when anything on the page changes', () => {
    const key = (changes: CheckoutChanges): string => liveStatus(aCheckout(changes)).key
    const keys = PAYMENT_STATUSES.map((status, version) =>
      key({ ...BY_STATUS[status], payment: { ...BY_STATUS[status].payment, version } }),
    )
    expect(new Set(keys).size).toBe(keys.length)
    expect(key(SITUATIONS['an identity check'])).not.toBe(key(BY_STATUS.pending))
    expect(key(SITUATIONS['five minutes left'])).not.toBe(key({ payment: { provider: 'card_partner' } }))
  })
})

describe('After the payment', () => {
  test('the receipt has amount, merchant, order, method, statement, date, payment and transfer', () => {
    const page = html(BY_STATUS.succeeded)
    for (const part of ['€49.99', 'ORDER-1042', 'Banking app, at Velanto', 'VELANTO', '20 November 2026 at 13:03'])
      expect(readText(page)).toContain(part)
    expect(readText(page)).toContain('pay_01hzy3v7t8e4a9v2b6q5r0c1d2')
    expect(page).toContain(`href="https://polygonscan.com/tx/${TX_HASH}"`)
    expect(page).toContain('href="https://shop.example/thanks"')
    expect(filledButton(BY_STATUS.succeeded)).toBe('Back to Nightline Rail')
  })

  test('the receipt shows a higher charge, and not the price alone', () => {
    const changes = SITUATIONS['more than the price']
    const receipt = readText(renderReceipt(aCheckout(changes), wordsIn('en', 'DE')))
    for (const page of [read(changes), receipt]) expect(page).toContain('Extra amount €24.86 Paid €74.85')
    expect(read(changes)).toContain('You paid €74.85')
    expect(readTitle(changes)).toBe('Paid: €74.85 to Nightline Rail')
  })

  test('a charge in another currency is the amount that was paid', () => {
    expect(read(SITUATIONS['paid in rupees'])).toContain('You paid ₹4,536.76')
  })

  test('a test receipt says TEST in its title and across it, on the page and on paper; a real one does not', () => {
    const renderReceiptWith = (changes: CheckoutChanges) => renderReceipt(aCheckout(changes), wordsIn('en', 'DE'))
    const tried = renderReceiptWith(SITUATIONS['paid in test mode'])
    expect(tried).toContain('<title>Test receipt from Nightline Rail</title>')
    expect(readText(tried)).toContain('Status Test: no money moved')
    for (const page of [tried, html(SITUATIONS['paid in test mode'])]) expect(page).toMatch(/class="(paper|slip) void"/)
    const real = renderReceiptWith(BY_STATUS.succeeded)
    expect(real).toContain('<title>Receipt from Nightline Rail</title>')
    for (const page of [real, html(BY_STATUS.succeeded)]) expect(page).not.toContain('void')
  })

  test('a second payment is shown next to the one that counts, and a late one is explained', () => {
    const page = read(SITUATIONS['paid late and twice'])
    expect(page).toContain('Your payment arrived late. It counts, and Nightline Rail has it.')
    expect(page).toContain('Nightline Rail received €49.99 once. We are holding the other €49.99 for you.')
    expect(page).toMatch(/Banking app Counted .* Card Held for you/)
    expect(page).toContain(TX_HASH)
  })

  test.each([
    ['expired', {}, 'A payment that arrives late still counts, and appears here.'],
    ['canceled', {}, 'A payment that arrives late still counts, and appears here.'],
    ['failed', {}, 'Money that still arrives is safe: our team handles it'],
    ['expired', { listenEnded: true }, 'Money that still arrives is safe: our team handles it'],
    ['canceled', { listenEnded: true }, 'Money that still arrives is safe: our team handles it'],
  ] as const)(
    '%s %j with an open order: the page says neither "not charged" nor "pay again", and is right about late money',
    (status, changes, says) => {
      const page = read({ payment: { status, ...changes }, attempts: [anAttempt('open')] })
      expect(page).toContain(says)
      expect(page.includes('still counts')).toBe(says.includes('still counts'))
      expect(page).not.toMatch(/not charged|Nothing was|cannot be tried|new payment link/i)
    },
  )

  test.each(['expired', 'canceled', 'failed'] as const)(
    '%s with nothing open: the page says what to do, once',
    (status) => {
      const page = read(BY_STATUS[status])
      expect(page).toContain('To pay, ask Nightline Rail for a new payment link.')
      expect(page).not.toContain('late')
      expect(page).toContain('Not charged')
    },
  )

  test.each(['expired', 'canceled', 'failed'] as const)(
    '%s, and money arrived after the time for late money: it is named, safe, and on its way back',
    (status) => {
      const changes = { payment: { status, listenEnded: true }, attempts: [anAttempt('paid')] }
      const page = read(changes)
      expect(page).toContain('Your payment arrived late. Your money is safe.')
      expect(page).toContain('Arrived €49.99')
      expect(page).toContain('Our team arranges the return')
      expect(page).not.toMatch(/not charged|Nothing was|None of your money was kept|new payment link/i)
      expect(liveStatus(aCheckout(changes)).poll).toBe(10)
    },
  )

  test('an expired payment whose late money went back says that, and not that nothing was charged', () => {
    const page = read({ payment: { status: 'expired' }, attempts: [anAttempt('refunded')] })
    expect(page).toContain('Your money was returned')
    expect(page).toContain('To pay, ask Nightline Rail for a new payment link.')
    expect(page).not.toMatch(/not charged|Nothing was charged/i)
  })

  test('the page of a payment that has ended polls only while money can arrive', () => {
    expect(liveStatus(aCheckout(BY_STATUS.expired)).poll).toBeNull()
    expect(liveStatus(aCheckout(SITUATIONS['expired with an order open'])).poll).toBe(10)
    expect(liveStatus(aCheckout(BY_STATUS.succeeded)).poll).toBeNull()
  })
})

test('returned money is named if it belonged to the payment; for other returned money the page names the price', () => {
  const { refunded } = BY_STATUS
  const own = { ...refunded, payment: { ...refunded.payment, confirmed: { minor: '3000', currency: 'EUR' } as const } }
  expect(read(own)).toContain('Returned €30.00')
  expect(read(refunded)).toContain('Price €49.99')
  expect(read(refunded)).not.toContain('Returned €')
})
