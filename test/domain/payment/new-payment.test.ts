import { expect, test } from '@jest/globals'
import { createdPayment, returnUrl } from '../../../src/domain/payment/new-payment.ts'
import { created } from './payment-story.ts'

test('a new payment has the values that it was created with, and nothing else yet', () => {
  const { id, createdAt, expiresAt, ...rest } = createdPayment(created, { merchantId: 'mer_1', livemode: true })
  expect({ id, createdAt, expiresAt }).toEqual({
    id: 'pay_1',
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  })
  const { id: _id, createdAt: _createdAt, expiresAt: _expiresAt, ...given } = created
  expect(rest).toEqual({
    ...given,
    merchantId: 'mer_1',
    livemode: true,
    updatedAt: '2026-01-01T00:00:00.000Z',
    status: 'created',
    statusReason: null,
    exception: null,
    held: false,
    closedAs: null,
    payout: 'none',
    stoppedFor: null,
    stuck: null,
    reviews: [],
    reviewSince: null,
    delayedAt: null,
    providerUsed: null,
    methodUsed: null,
    paidAttemptId: null,
    confirmed: null,
    convertingSince: null,
    rate: null,
    agreed: null,
    takenSale: null,
    paidMicro: null,
    usdc: null,
    reservedMicro: '0',
    deduction: null,
    reserveReleasedMicro: '0',
    reserveReleaseId: null,
    transfer: null,
    expiryPostponed: false,
    expiryExtended: false,
    listenEnded: false,
    lostMinor: '0',
    refundsMinor: '0',
    refundsCount: 0,
    paidAt: null,
    succeededAt: null,
    failedAt: null,
    canceledAt: null,
    closedAt: null,
    version: 1,
  })
})

test.each([
  ['https://shop.example/thanks', 'https://shop.example/thanks'],
  ['https://shop.example/{PAYMENT_ID}?p={PAYMENT_ID}', 'https://shop.example/pay_1?p=pay_1'],
  ['https://shop.example/{payment_id}', 'https://shop.example/{payment_id}'],
  [null, null],
])('the return URL %s leads the buyer to %s', (url, leads) => {
  expect(returnUrl(url, 'pay_1')).toBe(leads)
})

test.each(['{PAYMENT_ID}', '%7BPAYMENT_ID%7D', '%7bPAYMENT_ID%7d'])('the id of the payment replaces %s', (place) => {
  expect(returnUrl(`https://shop.example/a?id=${place}&again=${place}`, 'pay_1')).toBe(
    'https://shop.example/a?id=pay_1&again=pay_1',
  )
})
