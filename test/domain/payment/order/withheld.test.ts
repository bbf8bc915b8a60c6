import { expect, test } from '@jest/globals'
import type { PartnerOrder } from '../../../../src/domain/payment/partner.ts'
import { isWithheld } from '../../../../src/domain/payment/partner-news.ts'
import type { Payment } from '../../../../src/domain/payment/payment-object.ts'
import { confirmedMoney, part, stateOf, usdc } from '../decided-payment.ts'
import { deposit, order } from '../money/order-story.ts'

/** Whether the partner lets go what it had confirmed, before a decision sells it. */

const eur = (minor: string) => ({ minor, currency: 'EUR' as const })
const waits = { ...confirmedMoney, status: 'under_review', parkReason: 'operator_hold' } as const
const withheld = (news: Partial<PartnerOrder>, payment: Partial<Payment> = {}) =>
  isWithheld(stateOf({ ...waits, ...payment }), order(news))

test('money that the partner has on hold is withheld, all of it or less', () => {
  for (const received of [eur('4999'), eur('100'), null]) expect(withheld({ status: 'on_hold', received })).toBe(true)
})

test.each(['open', 'verification_required', 'confirming'] as const)(
  'so is what the partner says is still to come: %s',
  (status) => {
    expect(withheld({ status })).toBe(true)
    expect(withheld({ status, received: eur('4998') })).toBe(true)
    expect(withheld({ status, received: eur('4999') })).toBe(false)
  },
)

test.each(['paid', 'declined', 'canceled', 'expired', 'refunded'] as const)(
  'what is there, or gone, is not: %s',
  (status) => expect(withheld({ status })).toBe(false),
)

test('nor is what the payment has sold already, waits for, or has from elsewhere', () => {
  const held = { status: 'on_hold' } as const
  expect(withheld(held, { usdc })).toBe(false)
  expect(withheld(held, { parkReason: 'partner_hold' })).toBe(false)
  expect(withheld({ ...held, attemptId: 'att_2' })).toBe(false)
  expect(withheld(held, { paidAttemptId: null })).toBe(false)
  const someUsdc = [part({ asset: 'USDC' })]
  expect(isWithheld(stateOf(waits, { parts: someUsdc }), deposit('open', '2000', ['a', '24000000']))).toBe(false)
})
