import { describe, expect, test } from '@jest/globals'
import { describeOffered } from '../../../src/domain/payment/decision.ts'
import { ANSWERS } from '../../../src/domain/payment/funds/answer.ts'
import { ASKS, STOPS } from '../../../src/domain/payment/funds/review.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { OTHER_TOKEN } from '../../../src/domain/payment/reading.ts'
import { merchantText, type ReviewReason } from '../../../src/domain/payment/reviews.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import {
  AT,
  after,
  attempt,
  brings,
  decides,
  fills,
  handed,
  handsOver,
  opened,
  pays,
  paysOut,
  type Step,
  says,
  sets,
  setsAttempt,
  settled,
  usdcAttempt,
} from './payment-story.ts'

const one = opened(attempt())
const two = opened(attempt(), attempt({ id: 'att_2', provider: 'card_partner', method: 'card' }))
const usdc = opened(usdcAttempt())
const odd = says({ status: 'paid', received: '10000', amount: { minor: '9000', currency: 'EUR' } })

const TOKEN = `0x${'d'.repeat(40)}`
/** The converter has refused the open order. */
const refuses: Step = (state) => ({
  ...state,
  sales: state.sales.map((sale) => ({ ...sale, state: 'ended' as const })),
})

const BACK = ['give_back --attempt att_1', 'give_back --attempt att_1 --outside']
const OUTSIDE = ['give_back --attempt att_1 --outside']

type Asked = readonly [ReviewReason, PaymentWithAttempts, text: string, answers: readonly string[]]

/** The text and the decisions of each reason for a review. */
const REVIEWS: readonly Asked[] = [
  [
    'too_little',
    after(one, pays('9899')),
    'The partner has 98.99 EUR, of 100.00 EUR that was asked for. `settle` settles what is there.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'too_little',
    after(usdc, brings('paid', '50000000')),
    '50.000000 USDC arrived, of 110.000000 USDC that was asked for. `settle` settles what is there.',
    ['settle', ...OUTSIDE, 'hold'],
  ],
  [
    'after_failure',
    after(one, sets({ closedAs: 'failed' }), pays()),
    'The partner has 100.00 EUR. It arrived after the payment had failed.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'sale_stuck',
    after(one, pays(), sets({ stuck: 'att_1' })),
    'The converter has not answered for half an hour whether it has sold 100.00 EUR. `settle` tries again.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'sale_stuck',
    after(one, pays(), refuses, sets({ stuck: 'att_1' })),
    'The converter has refused to sell 100.00 EUR. `settle` tries again.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'far_fill',
    after(one, pays(), fills(100_000_000n)),
    'The converter’s fill is too far from the locked rate: 100.000000 USDC were bought, where the locked rate gives 110.000000 USDC. `settle` pays the merchant by the locked rate, and the platform bears the difference.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'payout_stopped',
    after(handed, sets({ payout: 'stopped', stoppedFor: 'blacklisted' })),
    'The settlement has stopped the payout: blacklisted. `settle` tries it again.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'payout_stopped',
    after(handed, sets({ payout: 'stopped', stoppedFor: null })),
    'The settlement has stopped the payout. `settle` tries it again.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'odd_order',
    after(one, pays(), says({ status: 'paid' })),
    'The partner says that the order is paid, and not how much: the partner names 100.00 EUR asked for and nothing received, where 100.00 EUR was asked for. `settle` sells the 100.00 EUR that the partner has.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'odd_order',
    after(one, setsAttempt({ misfit: { ...OTHER_TOKEN, why: 'currency', amount: { minor: '5', currency: 'BTC' } } })),
    'The order is in another currency: the partner names 5 BTC asked for and nothing received, where 100.00 EUR was asked for.',
    [...BACK, 'write_off', 'hold'],
  ],
  [
    'odd_order',
    after(one, sets({ closedAs: 'expired' }), odd, sets({ listenEnded: true })),
    'The order is of another amount: the partner names 90.00 EUR asked for and 100.00 EUR received, where 100.00 EUR was asked for.',
    BACK,
  ],
  [
    'odd_order',
    after(handed, odd),
    'The order is of another amount: the partner names 90.00 EUR asked for and 100.00 EUR received, where 100.00 EUR was asked for.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'odd_order',
    after(one, odd),
    'The order is of another amount: the partner names 90.00 EUR asked for and 100.00 EUR received, where 100.00 EUR was asked for. `settle` sells the 100.00 EUR that the partner has.',
    ['settle', ...BACK, 'hold'],
  ],
  [
    'odd_order',
    after(one, says({ status: 'paid', received: '10000', account: 'somebody' })),
    'The order is of another account at the partner: the partner names 100.00 EUR asked for and 100.00 EUR received, where 100.00 EUR was asked for.',
    [...BACK, 'write_off', 'hold'],
  ],
  [
    'other_token',
    after(usdc, says({ status: 'wrong_asset' })),
    'Another token than USDC is at the address of the payment. It does not count. Send it back by hand, and record that with `write_off`.',
    ['write_off', 'hold'],
  ],
  [
    'other_token',
    after(usdc, setsAttempt({ misfit: { ...OTHER_TOKEN, received: { minor: '2500000', currency: TOKEN } } })),
    `Another token than USDC is at the address of the payment: 2500000 units of ${TOKEN}. It does not count. Send it back by hand, and record that with \`write_off\`.`,
    ['write_off', 'hold'],
  ],
  [
    'withheld',
    after(one, says({ status: 'on_hold', received: '10000' })),
    'The partner withholds 100.00 EUR while it checks the payment. Wait: there is nothing to do until the partner releases the money.',
    [...BACK, 'hold'],
  ],
  [
    'withheld',
    after(one, says({ status: 'on_hold' })),
    'The partner withholds the money while it checks the payment. Wait: there is nothing to do until the partner releases the money.',
    ['write_off', 'hold'],
  ],
  [
    'silent',
    after(one, says({ status: 'confirming' }), setsAttempt({ silent: true })),
    'The partner has been confirming the money for too long. Ask the partner. If the money arrives, the payment continues.',
    ['write_off', 'hold'],
  ],
  [
    'excess',
    after(settled, pays('15000')),
    '50.00 EUR more than the payment needs: the buyer must get it back.',
    OUTSIDE,
  ],
  [
    'excess',
    after(usdc, brings('paid', '110000000'), handsOver, paysOut(), brings('paid', '110000000', '5000000')),
    '5.000000 USDC more than the payment needs: the buyer must get it back.',
    OUTSIDE,
  ],
  [
    'excess',
    after(handed, sets({ payout: 'void' })),
    '100.00 EUR are there, and nothing is paid out any more: the buyer must get them back.',
    BACK,
  ],
  [
    'loss',
    after(settled, pays('4000')),
    'The platform has lost 60.00 EUR: the partner took it back after the merchant was paid.',
    ['write_off'],
  ],
  [
    'loss',
    after(one, pays(), decides({ say: 'give_back', accountId: 'att_1', outside: true }), says({ status: 'refunded' })),
    'The platform has lost 100.00 EUR: the partner took it back, and the buyer had got it from elsewhere.',
    ['write_off'],
  ],
  [
    'unexpected_payout',
    after(handed, paysOut('5')),
    'The chain has paid 0.000005 USDC to the merchant, and 105.050000 USDC was to be paid.',
    ['write_off'],
  ],
  [
    'held',
    after(one, pays(), sets({ held: true })),
    'An operator holds the payment. Nothing is sold or paid out until it is released.',
    [...BACK, 'release'],
  ],
]

describe('A review names the facts with their amounts, and the possible decisions', () => {
  test.each(REVIEWS)('a review has its text and decisions: %s', (reason, state, text, answers) => {
    const isOfPayment = ['payout_stopped', 'unexpected_payout', 'held'].includes(reason)
    expect(state.payment.reviews).toEqual([{ reason, attemptId: isOfPayment ? null : 'att_1', text }])
    expect(state.payment.reviewSince).toBe(AT)
    expect(describeOffered(toSnapshot(state).answers)).toEqual(answers)
  })

  test.each(REVIEWS)('the review %s names only existing decisions', (_reason, _state, text) => {
    const named = [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word)
    expect(named.filter((word) => !ANSWERS.some((say) => say === word))).toEqual([])
  })

  test('every reason has a review', () => {
    expect(new Set(REVIEWS.map(([reason]) => reason))).toEqual(new Set([...STOPS, ...ASKS]))
  })

  test('a reason that stops the settlement comes before a question, for each account that it concerns', () => {
    const both = after(two, pays('10000', 'att_2'), pays('4000'), fills(100_000_000n))
    expect(both.payment.reviews.map(({ reason, attemptId }) => [reason, attemptId])).toEqual([
      ['far_fill', 'att_2'],
      ['excess', 'att_1'],
    ])
  })

  test.each<[ReviewReason, PaymentWithAttempts]>([
    ['sale_stuck', after(two, pays(), sets({ stuck: 'att_1' }))],
    ['other_token', after(opened(usdcAttempt(), usdcAttempt({ id: 'att_2' })), says({ status: 'wrong_asset' }))],
    ['withheld', after(two, says({ status: 'on_hold', received: '10000' }))],
    ['silent', after(two, says({ status: 'confirming' }), setsAttempt({ silent: true }))],
    ['loss', after(two, pays(), fills(), handsOver, paysOut(), pays('4000'))],
  ])('a review is about the order that it concerns, and not about another one: %s', (reason, state) => {
    expect(state.payment.reviews.map((review) => [review.reason, review.attemptId])).toEqual([[reason, 'att_1']])
  })

  test('a review of the second order has the report of the second order', () => {
    const report = { status: 'paid', received: '10000', amount: { minor: '9000', currency: 'EUR' as const } } as const
    const { reviews } = after(two, says(report, 'att_2')).payment
    expect(reviews).toMatchObject([{ attemptId: 'att_2', text: expect.stringContaining('names 90.00 EUR asked for') }])
  })

  test('an odd order offers to sell no money of another one', () => {
    const [review] = after(two, pays('10000', 'att_2'), odd).payment.reviews
    expect(review).toMatchObject({ reason: 'odd_order', attemptId: 'att_1' })
    expect(review?.text).not.toContain('`settle` sells')
  })

  test('a sale hangs also after another one was filled', () => {
    const first = after(two, pays('10000', 'att_2'), says({ status: 'canceled' }, 'att_2'), fills())
    const [review] = after(first, pays(), sets({ stuck: 'att_1' })).payment.reviews
    expect(review?.text).toContain('The converter has not answered for half an hour')
  })

  test('a payout of a payment that was not converted is compared with nothing', () => {
    const { reviews } = after(one, paysOut('5')).payment
    expect(reviews.map(({ text }) => text)).toEqual([
      'The chain has paid 0.000005 USDC to the merchant, and 0.000000 USDC was to be paid.',
    ])
  })

  test('a review is about the odd order only, and not about another one', () => {
    const { reviews } = after(two, odd).payment
    expect(reviews.map(({ reason, attemptId }) => [reason, attemptId])).toEqual([['odd_order', 'att_1']])
  })

  test('money that a partner confirms at the end of the time for late money belongs to the buyer, also after a void', () => {
    const confirming = says({ status: 'confirming', received: '10000' })
    const returned = setsAttempt({ returned: true, held: '0', status: 'refunded', paidAt: null })
    const late = says({ status: 'confirming', received: '10000' }, 'att_2')
    const states = [
      after(one, sets({ closedAs: 'expired' }), confirming),
      after(two, pays(), fills(), sets({ payout: 'void' }), returned, late),
    ]
    for (const state of states) {
      expect(toSnapshot(state)).toMatchObject({ next: 'await_partner', reviews: [] })
      expect(toSnapshot(after(state, sets({ listenEnded: true }))).reviews).toMatchObject([{ reason: 'excess' }])
    }
  })

  test('a payment does not end as failed while another order is being confirmed', () => {
    const both = after(two, says({ status: 'on_hold' }), says({ status: 'confirming' }, 'att_2'))
    expect(toSnapshot(both)).toMatchObject({ next: 'review', answers: [{ say: 'hold' }] })
    expect(toSnapshot(both).silentAt).not.toBeNull()
    const silent = after(both, setsAttempt({ silent: true }, 'att_2'))
    expect(after(silent, decides({ say: 'write_off' })).payment.status).toBe('failed')
  })

  test('a sale that hangs has a review also if other money must be sold', () => {
    const hanging = after(two, pays('10000', 'att_2'), pays(), sets({ stuck: 'att_2' }))
    expect(hanging.payment).toMatchObject({ paidAttemptId: 'att_1', statusReason: 'sale_stuck' })
    expect(hanging.payment.reviews[0]).toMatchObject({ reason: 'sale_stuck', attemptId: 'att_2' })
    expect(toSnapshot(hanging).next).toBe('end_sale')
    const ended = { ...hanging, sales: hanging.sales.map((sale) => ({ ...sale, state: 'ended' as const })) }
    expect(after(ended, sets({ stuck: null })).payment.status).toBe('processing')
  })

  test('an order that was also returned from elsewhere is read, also after the time for late money', () => {
    const outside = decides({ say: 'give_back', accountId: 'att_1', outside: true })
    const asked = after(
      one,
      pays('5000'),
      decides({ say: 'give_back', accountId: 'att_1' }),
      setsAttempt({ back: 'asked' }),
      outside,
    )
    expect(toSnapshot(asked)).toMatchObject({ status: 'refunded', next: 'await_partner', reviews: [] })
    const more = after(asked, pays('15000'))
    expect(more.payment.reviews).toMatchObject([{ reason: 'excess' }])
    expect(after(more, outside).payment.reviews).toEqual([])
    expect(toSnapshot(after(asked, sets({ listenEnded: true }))).next).toBe('await_partner')
  })

  test('a payment that needs no operator has no review, and the first reason is remembered', () => {
    expect(settled.payment).toMatchObject({ reviews: [], reviewSince: null })
    const earlier = after(settled, pays('4000'), sets({ reviewSince: '2026-01-01T00:00:00.000Z' }), pays('3000'))
    expect(earlier.payment.reviewSince).toBe('2026-01-01T00:00:00.000Z')
    expect(after(earlier, decides({ say: 'write_off' })).payment.reviewSince).toBeNull()
  })
})

describe('Texts for the merchant', () => {
  test.each([...STOPS, ...ASKS, 'voiding', 'confirming', 'giving_back'])(
    'a merchant reads for %s if they can ship, and nothing about the platform’s internal work',
    (reason) => {
      const text = merchantText({ status: 'under_review', payout: 'none' }, reason)
      expect(text).toMatch(/^[A-Z].{10,}\.$/)
      expect(text).not.toMatch(/`|operator|settle\b|suspense|treasury|write/i)
    },
  )

  test('a merchant reads that a void payment pays nothing', () => {
    expect(merchantText({ status: 'under_review', payout: 'void' }, 'excess')).toMatch('Do not ship')
    expect(merchantText({ status: 'processing', payout: 'none' }, null)).toBeNull()
  })
})
