import { expect, test } from '@jest/globals'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { findRefundable, type Refundable } from '../../../src/domain/refund/refundable.ts'
import {
  after,
  attempt,
  brings,
  decides,
  handed,
  handsOver,
  newState,
  opened,
  pays,
  paysOut,
  says,
  sets,
  settled,
  sold,
  usdcAttempt,
} from '../payment/payment-story.ts'

const one = opened(attempt())
const two = opened(attempt(), attempt({ id: 'att_2', provider: 'card_partner', method: 'card' }))
const usdc = after(opened(usdcAttempt()), brings('paid', '110000000'))
const odd = says({ status: 'paid', received: '10000', amount: { minor: '9000', currency: 'EUR' } })
const givesOutside = decides({ say: 'give_back', accountId: 'att_1', outside: true })
const price = { minor: '10000', currency: 'EUR' } as const
const own: Refundable = { fundFrom: 'payment', attemptId: 'att_1', left: price }
const paid: Refundable = { ...own, fundFrom: 'wallet' }

test.each<[string, PaymentWithAttempts, Refundable | null]>([
  ['a new payment has nothing', newState, null],
  ['a payment without money has nothing', one, null],
  ['money that is confirmed can go back', after(one, pays()), own],
  [
    'money below the price can go back, as it is',
    after(one, pays('4000')),
    { ...own, left: { ...price, minor: '4000' } },
  ],
  ['money that is sold can go back', sold, own],
  ['money that is handed over can go back', handed, own],
  ['money of a stopped payout can go back', after(handed, sets({ payout: 'stopped' })), own],
  ['money of a void payout can go back', after(handed, sets({ payout: 'void' })), own],
  ['money of a payout that is being voided cannot', after(handed, sets({ payout: 'voiding' })), null],
  ['money that is held cannot', after(handed, sets({ held: true })), null],
  ['money that is on its way back cannot', after(one, pays(), decides({ say: 'give_back', accountId: 'att_1' })), null],
  ['money of an odd order cannot', after(handed, odd), null],
  ['money next to an order without money can go back', after(two, pays()), own],
  ['money of the second order can go back', after(two, pays('10000', 'att_2')), { ...own, attemptId: 'att_2' }],
  ['money next to a second payment cannot', after(two, pays(), pays('10000', 'att_2')), null],
  ['money with an excess cannot', after(handed, pays('15000')), null],
  ['money whose excess the buyer got from elsewhere cannot', after(handed, pays('15000'), givesOutside), null],
  ['USDC at an address cannot', usdc, null],
  ['what was paid out can be refunded from the wallet', settled, paid],
  [
    'what was paid out can be refunded without earlier refunds',
    after(settled, sets({ refundsMinor: '9999' })),
    { ...paid, left: { ...price, minor: '1' } },
  ],
  ['what was refunded cannot be refunded again', after(settled, sets({ refundsMinor: '10000' })), null],
  ['USDC that was paid out cannot', after(usdc, handsOver, paysOut()), null],
])('the refundable part of a payment is known: %s', (_what, state, refundable) => {
  expect(findRefundable(state)).toStrictEqual(refundable)
})
