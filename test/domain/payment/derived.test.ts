import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import { findPath } from '../../../src/domain/payment/payment.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import {
  AT,
  after,
  attempt,
  brings,
  createState,
  decides,
  fills,
  handed,
  handsOver,
  NET,
  newState,
  opened,
  pays,
  paysOut,
  type Step,
  says,
  sets,
  setsAttempt,
  settled,
  sold,
  usdcAttempt,
} from './payment-story.ts'

const card = attempt({ id: 'att_2', provider: 'card_partner', method: 'card' })
const one = opened(attempt())
const two = opened(attempt(), card)
const usdc = opened(usdcAttempt())
const gone = says({ status: 'canceled' })
const odd = says({ status: 'paid', received: '10000', amount: { minor: '9000', currency: 'EUR' } })
const voided = sets({ payout: 'void' })
const givesBack = decides({ say: 'give_back', accountId: 'att_1' })
const givesOutside = decides({ say: 'give_back', accountId: 'att_1', outside: true })
const asked = setsAttempt({ back: 'asked' })
const settles = decides({ say: 'settle' })
const confirmsSecond = says({ status: 'confirming', received: '10000' }, 'att_2')
const wrongSecond = says({ status: 'wrong_asset' }, 'att_2')
const written = decides({ say: 'write_off' })

/** Status, its reason and exception, and the next step. */
const summary = (state: PaymentWithAttempts): string => {
  const { status, statusReason, exception } = state.payment
  return `${status} (${statusReason ?? '-'}, ${exception ?? '-'}) → ${toSnapshot(state).next}`
}

describe('A payment before any money', () => {
  test.each<[string, PaymentWithAttempts, string]>([
    ['a new payment', newState, 'created (-, -) → await_buyer'],
    ['an open order', one, 'pending (-, -) → await_buyer'],
    [
      'an identity check',
      after(one, says({ status: 'verification_required' })),
      'pending (-, verification_required) → await_buyer',
    ],
    ['a hold', after(one, sets({ held: true })), 'pending (-, -) → await_buyer'],
    ['a confirmation', after(one, says({ status: 'confirming' })), 'processing (-, -) → await_partner'],
    [
      'a partner that confirms for too long',
      after(one, says({ status: 'confirming' }), setsAttempt({ silent: true })),
      'under_review (silent, -) → review',
    ],
    [
      'money that its partner withholds',
      after(one, says({ status: 'on_hold', received: '10000' })),
      'under_review (withheld, -) → review',
    ],
    ['another token', after(usdc, says({ status: 'wrong_asset' })), 'under_review (other_token, wrong_asset) → review'],
    ['a report that does not match', after(one, says({ status: 'paid' })), 'under_review (odd_order, -) → review'],
    ['the expiry', after(one, sets({ closedAs: 'expired' })), 'expired (-, -) → await_partner'],
    ['dust', after(usdc, brings('open', '9')), 'pending (-, -) → await_buyer'],
    ['a part of the price', after(usdc, brings('open', '50000000')), 'pending (-, underpaid) → await_buyer'],
  ])('a payment before any money is derived: %s', (_what, state, expected) => {
    expect(summary(state)).toBe(expected)
    expect(state.payment).toMatchObject({ paidAttemptId: null, confirmed: null, rate: null, paidAt: null })
  })
})

describe('A payment with money', () => {
  test.each<[string, PaymentWithAttempts, string]>([
    ['the price', after(one, pays()), 'processing (-, -) → sell'],
    ['one percent less', after(one, pays('9900')), 'processing (-, -) → sell'],
    ['a cent less than that', after(one, pays('9899')), 'under_review (too_little, underpaid) → review'],
    ['which an operator settles', after(one, pays('9899'), settles), 'processing (-, underpaid) → sell'],
    ['too much: what arrived is settled', after(one, pays('12000')), 'processing (-, overpaid) → sell'],
    [
      'the price in USDC, which is its own sale',
      after(usdc, brings('paid', '110000000')),
      'processing (-, -) → hand_over',
    ],
    ['a changed order', after(one, odd), 'under_review (odd_order, -) → review'],
    ['which an operator accepts', after(one, odd, settles), 'processing (-, -) → sell'],
    ['a second payment', after(two, pays(), pays('10000', 'att_2')), 'processing (excess, duplicate_payment) → sell'],
    [
      'a second payment whose first one has gone',
      after(two, pays(), pays('10000', 'att_2'), gone),
      'processing (-, -) → end_sale',
    ],
    [
      'a withheld order next to a paid one',
      after(two, says({ status: 'on_hold', received: '10000' }), pays('10000', 'att_2')),
      'processing (-, -) → sell',
    ],
    ['a hold', after(one, pays(), sets({ held: true })), 'under_review (held, -) → await_release'],
    ['a converter that refuses', after(one, pays(), sets({ stuck: 'att_1' })), 'under_review (sale_stuck, -) → review'],
    ['a fill far off the rate', after(one, pays(), fills(100_000_000n)), 'under_review (far_fill, -) → review'],
    [
      'which an operator accepts: it is paid out',
      after(one, pays(), fills(100_000_000n), settles),
      'processing (-, -) → hand_over',
    ],
    ['a fill near the rate', after(one, pays(), fills(108_000_000n)), 'processing (-, -) → hand_over'],
    ['after the expiry', after(one, sets({ closedAs: 'expired' }), pays()), 'processing (-, paid_late) → sell'],
    [
      'too little after the cancellation',
      after(one, sets({ closedAs: 'canceled' }), pays('1')),
      'under_review (too_little, paid_late) → review',
    ],
    [
      'after the failure',
      after(one, sets({ closedAs: 'failed' }), pays()),
      'under_review (after_failure, paid_late) → review',
    ],
    [
      'after the listening: nothing settles it any more',
      after(one, sets({ closedAs: 'expired', listenEnded: true }), pays()),
      'expired (-, paid_late) → review',
    ],
  ])('a payment with money is derived: %s', (_what, state, expected) => {
    expect(summary(state)).toBe(expected)
  })

  test('a payment is settled with the account that has the whole price, whatever arrived before', () => {
    const later = after(two, pays('5000'), pays('10000', 'att_2'))
    expect(later.payment).toMatchObject({ paidAttemptId: 'att_2', providerUsed: 'card_partner', methodUsed: 'card' })
    const back = after(two, pays(), pays('10000', 'att_2'), gone)
    expect(back.payment).toMatchObject({ paidAttemptId: 'att_2', confirmed: { minor: '10000', currency: 'EUR' } })
  })

  test('the account that is being sold is settled before another one that has the price', () => {
    const second = after(two, pays('10000', 'att_2'), pays())
    expect(second.payment.paidAttemptId).toBe('att_2')
    expect(after(second, sets({ stuck: 'att_2' })).payment.paidAttemptId).toBe('att_1')
  })

  test('the payment’s money, rate and time are those of the account that is settled', () => {
    const rate = { rate: '1.1', source: 'test', lockedAt: AT }
    expect(after(one, pays('9950')).payment).toMatchObject({ confirmed: { minor: '9950' }, rate, paidAt: AT })
    expect(after(usdc, brings('paid', '104500000')).payment.confirmed).toEqual({ minor: '9500', currency: 'EUR' })
    expect(after(one, pays(), gone).payment).toMatchObject({
      status: 'pending',
      confirmed: null,
      rate: null,
      paidAt: null,
    })
  })
})

test('a conversion lasts from its first step to its fill, and not longer', () => {
  const since = (state: PaymentWithAttempts) => state.payment.convertingSince
  const begun = after(one, pays())
  expect([since(one), since(begun), since(after(begun, fills()))]).toEqual([null, AT, null])
  const longer = after(one, pays(), sets({ convertingSince: '2026-01-01T00:09:00.000Z' }))
  expect(since(after(longer, gone))).toBe('2026-01-01T00:09:00.000Z')
  expect(since(after(longer, gone, fills()))).toBeNull()
  expect(since(after(longer, decides({ say: 'hold' }), fills(), decides({ say: 'release' })))).toBeNull()
})

describe('A payment from the payout on', () => {
  test.each<[string, PaymentWithAttempts, string]>([
    ['handed over', handed, 'settling (-, -) → await_payout'],
    ['for too long', after(handed, sets({ delayedAt: AT })), 'settling (-, settlement_delayed) → await_payout'],
    ['held', after(handed, sets({ held: true })), 'under_review (held, -) → await_release'],
    ['stopped', after(handed, sets({ payout: 'stopped' })), 'under_review (payout_stopped, -) → review'],
    ['whose money has gone', after(handed, gone), 'settling (-, -) → void'],
    ['being voided', after(handed, gone, sets({ payout: 'voiding' })), 'under_review (voiding, -) → await_payout'],
    ['void, with the money gone', after(handed, gone, voided), 'refunded (-, -) → done'],
    ['void, with the money there', after(handed, voided), 'under_review (excess, -) → review'],
    ['void, while it goes back', after(handed, voided, givesBack), 'under_review (giving_back, -) → give_back'],
    ['paid', settled, 'succeeded (-, -) → done'],
    ['paid, delayed before', after(handed, sets({ delayedAt: AT }), paysOut()), 'succeeded (-, -) → done'],
    ['paid, with more money since', after(settled, pays('15000')), 'succeeded (-, duplicate_payment) → review'],
    ['paid, and reversed', after(settled, gone), 'succeeded (-, -) → review'],
    ['paid, reversed and written off', after(settled, gone, written), 'succeeded (-, -) → done'],
    ['paid, reversed and won back', after(settled, gone, pays()), 'succeeded (-, -) → done'],
    ['paid another sum', after(handed, paysOut('5')), 'succeeded (-, -) → review'],
    // Its sale may have been forgotten with it: the converter has the same order again.
    ['paid before anything was sold', after(one, pays(), paysOut()), 'succeeded (-, -) → sell'],
    ['which the sale explains', after(one, pays(), paysOut(), fills()), 'succeeded (-, -) → done'],
    [
      'paid faster than its void',
      after(handed, givesBack, sets({ payout: 'voiding' }), paysOut()),
      'succeeded (-, -) → done',
    ],
  ])('a payment with a payout is derived: %s', (_what, state, expected) => {
    expect(summary(state)).toBe(expected)
    const { paidAttemptId, confirmed, paidAt } = state.payment
    expect([paidAttemptId, confirmed, paidAt]).toEqual(['att_1', { minor: '10000', currency: 'EUR' }, AT])
  })

  test('a payment keeps the time at which it was paid when its partner reverses the money and has it again', () => {
    const again = after(settled, gone, pays(), setsAttempt({ paidAt: '2026-03-01T00:00:00.000Z' }))
    expect(again.payment.paidAt).toBe(AT)
  })

  test('the sale that is taken fixes the net amount', () => {
    expect(handed.payment.usdc).toEqual({ gross: '110000000', fee: '4950000', net: NET })
    expect(after(handed, pays('15000')).payment).toMatchObject({ usdc: { net: NET }, confirmed: { minor: '10000' } })
  })
})

describe('Money that leaves a payment', () => {
  test.each<[string, PaymentWithAttempts, string]>([
    ['decided, and not asked for yet', after(one, pays(), givesBack), 'under_review (giving_back, -) → give_back'],
    ['asked for', after(one, pays(), givesBack, asked), 'under_review (giving_back, -) → end_sale'],
    [
      'by the partner',
      after(one, pays(), givesBack, asked, says({ status: 'refunded' })),
      'refunded (-, -) → end_sale',
    ],
    [
      'which the partner refuses',
      after(one, pays(), givesBack, asked, setsAttempt({ back: 'no' })),
      'processing (-, -) → sell',
    ],
    [
      'by the partner without being asked',
      after(one, pays(), says({ status: 'refunded' })),
      'refunded (-, -) → end_sale',
    ],
    ['from elsewhere', after(one, pays(), givesOutside), 'refunded (-, -) → end_sale'],
    ['twice', after(one, pays(), givesOutside, gone), 'refunded (-, -) → end_sale'],
    ['after the expiry', after(one, sets({ closedAs: 'expired' }), pays(), givesOutside), 'refunded (-, -) → end_sale'],
    ['of the first of two', after(two, pays('5000'), pays('10000', 'att_2'), givesOutside), 'processing (-, -) → sell'],
    ['a part of the price', after(usdc, brings('open', '50000000'), givesOutside), 'refunded (-, -) → await_partner'],
    [
      'other money is waited for',
      after(two, pays(), says({ status: 'confirming' }, 'att_2'), givesOutside),
      'processing (-, -) → end_sale',
    ],
  ])('a payment whose money leaves is derived: %s', (_what, state, expected) => {
    expect(summary(state)).toBe(expected)
  })

  test('money that arrives after a give-back is a second payment, and does not belong to the payment', () => {
    const again = after(one, pays(), givesBack, asked, says({ status: 'refunded' }), pays())
    expect(again.payment).toMatchObject({ status: 'refunded', reviews: [{ reason: 'excess' }] })
  })
})

describe('A payment with two orders', () => {
  test.each<[string, PaymentWithAttempts, string]>([
    ['one withholds money', after(two, says({ status: 'on_hold' })), 'under_review (withheld, -) → review'],
    [
      'one has another token',
      after(opened(usdcAttempt(), usdcAttempt({ id: 'att_2' })), says({ status: 'wrong_asset' })),
      'under_review (other_token, wrong_asset) → review',
    ],
    [
      'one has a part of the price',
      after(opened(usdcAttempt(), card), brings('open', '50000000')),
      'pending (-, underpaid) → await_buyer',
    ],
    [
      'one waits for an identity check',
      after(two, says({ status: 'verification_required' })),
      'pending (-, verification_required) → await_buyer',
    ],
    [
      'the payout is void, and one has the money',
      after(two, pays(), fills(), handsOver, voided),
      'under_review (excess, -) → review',
    ],
    [
      'the payout is void, and the money of one goes back',
      after(two, pays(), fills(), handsOver, voided, givesBack),
      'under_review (giving_back, -) → give_back',
    ],
    [
      'the payout is void, and one is confirmed',
      after(two, confirmsSecond, pays(), fills(), handsOver, voided, gone),
      'under_review (confirming, -) → await_partner',
    ],
    [
      'the payment is held, and the money of the other one is to go back',
      after(
        two,
        pays(),
        pays('5000', 'att_2'),
        sets({ held: true }),
        decides({ say: 'give_back', accountId: 'att_2' }),
      ),
      'under_review (held, duplicate_payment) → give_back',
    ],
    [
      'the sale of one hangs, and the other one has the price as well',
      after(two, pays('10000', 'att_2'), pays(), sets({ stuck: 'att_2' })),
      'under_review (sale_stuck, duplicate_payment) → end_sale',
    ],
    [
      'one is paid, and the other one waits for an identity check',
      after(two, pays(), says({ status: 'verification_required' }, 'att_2')),
      'processing (-, -) → sell',
    ],
    [
      'one is paid, and the other one has another token',
      after(opened(usdcAttempt(), usdcAttempt({ id: 'att_2' })), brings('paid', '110000000'), wrongSecond),
      'processing (other_token, -) → hand_over',
    ],
  ])('the state of one order decides: %s', (_what, state, expected) => {
    expect(summary(state)).toBe(expected)
  })
})

describe('The money of a payment', () => {
  test('only money that was paid out can be lost, in the unit of its order', () => {
    const lost = (state: PaymentWithAttempts) => state.payment.lostMinor
    const second = after(two, pays('10000', 'att_2'), fills(), handsOver)
    expect([lost(settled), lost(after(settled, pays('4000')))]).toEqual(['0', '6000'])
    expect([lost(after(second, pays('4000', 'att_2'))), lost(after(second, paysOut(), pays('4000', 'att_2')))]).toEqual(
      ['0', '6000'],
    )
    const afterUsdc = after(opened(usdcAttempt(), card), pays('10000', 'att_2'), fills(), handsOver, paysOut())
    expect(lost(after(afterUsdc, pays('4000', 'att_2')))).toBe('6000')
  })

  test('money that goes back is shown as it was, until other money is settled or it has left', () => {
    const money = { paidAttemptId: 'att_1', confirmed: { minor: '4000' }, paidAt: AT }
    for (const state of [one, two]) expect(after(state, pays('4000'), givesBack).payment).toMatchObject(money)
    const both = after(two, pays(), pays('10000', 'att_2'))
    expect(after(both, givesBack).payment).toMatchObject({ paidAttemptId: 'att_2', providerUsed: 'card_partner' })
    const secondBack = after(both, decides({ say: 'give_back', accountId: 'att_2' }))
    expect([secondBack, after(secondBack, gone)].map(({ payment }) => payment.paidAttemptId)).toEqual(['att_1', null])
  })

  test('a payment that is settled with the money of another order has the time of that money', () => {
    const paidAt = '2026-01-01T00:11:00.000Z'
    const both = after(two, pays(), pays('10000', 'att_2'), setsAttempt({ paidAt }, 'att_2'))
    expect([both, after(both, gone)].map(({ payment }) => payment.paidAt)).toEqual([AT, paidAt])
  })

  test('a payment that was given back shows its money as it was', () => {
    const given = after(one, pays('4000'), givesOutside)
    expect(given.payment).toMatchObject({
      status: 'refunded',
      paidAttemptId: 'att_1',
      providerUsed: 'wallet_app',
      methodUsed: 'banking_app',
      confirmed: { minor: '4000', currency: 'EUR' },
      paidAt: AT,
    })
  })

  test('a payment whose money has left is not delayed, and has no money', () => {
    const delayed = after(one, pays('4000'), sets({ delayedAt: AT }))
    expect(delayed.payment).toMatchObject({ delayedAt: AT, paidAt: AT })
    expect(after(delayed, gone).payment).toMatchObject({ delayedAt: null, paidAt: null, confirmed: null })
  })

  test('money after the expiry is not late any more once its payout is void', () => {
    const late = after(one, sets({ closedAs: 'expired' }), pays(), fills(), handsOver)
    const states = [late, after(late, voided), after(late, gone, voided)]
    expect(states.map(({ payment }) => payment.exception)).toEqual(['paid_late', null, null])
  })

  test('a payment without orders is created', () => {
    expect(createState().payment.status).toBe('created')
  })
})

describe('The end of a payment whose money was given back', () => {
  const returned = { returned: true, status: 'refunded' } as const

  test.each<[string, PaymentWithAttempts, string]>([
    ['ends when its money has been given back', after(one, setsAttempt(returned)), 'void refunded'],
    [
      'does not end with an order that was given back once, and whose later money has gone',
      after(one, setsAttempt({ ...returned, status: 'canceled' })),
      'none pending',
    ],
    [
      'does not end with an order that is refunded without money',
      after(one, says({ status: 'refunded' })),
      'none pending',
    ],
    [
      'does not end while its partner is asked for other money',
      after(two, setsAttempt({ back: 'asked' }, 'att_2'), setsAttempt(returned)),
      'none pending',
    ],
    ['keeps its sale until the settlement has voided it', after(sold, says({ status: 'refunded' })), 'none processing'],
    [
      'stays paid if the chain has paid it',
      createState({ payout: 'paid', status: 'processing' }, { attempts: [attempt(returned)] }),
      'paid succeeded',
    ],
  ])('a payment %s', (_what, { payment }, expected) => {
    expect(`${payment.payout} ${payment.status}`).toBe(expected)
  })
})

describe('Random payments', () => {
  const STEPS: readonly Step[] = [
    ...['att_1', 'att_2'].flatMap((id) => [
      pays('10000', id),
      pays('4000', id),
      pays('15000', id),
      says({ status: 'confirming' }, id),
      says({ status: 'on_hold', received: '10000' }, id),
      says({ status: 'canceled' }, id),
      says({ status: 'refunded' }, id),
      says({ status: 'declined', received: '10000' }, id),
      says({ status: 'paid' }, id),
      decides({ say: 'give_back', accountId: id }),
      decides({ say: 'give_back', accountId: id, outside: true }),
      setsAttempt({ silent: true }, id),
    ]),
    (state) => (toSnapshot(state).next === 'give_back' ? asked(state) : state),
    settles,
    written,
    decides({ say: 'hold' }),
    decides({ say: 'release' }),
    fills(),
    fills(90_000_000n),
    (state) => (toSnapshot(state).next === 'hand_over' ? handsOver(state) : state),
    (state) => (toSnapshot(state).next === 'void' ? sets({ payout: 'voiding' })(state) : state),
    (state) => (state.payment.payout === 'handed' ? sets({ payout: 'stopped' })(state) : state),
    (state) => (state.payment.payout === 'voiding' ? voided(state) : state),
    (state) => (['handed', 'voiding'].includes(state.payment.payout) ? paysOut()(state) : state),
    (state) => (['created', 'pending'].includes(state.payment.status) ? sets({ closedAs: 'expired' })(state) : state),
    (state) => (state.payment.closedAs === null ? state : sets({ listenEnded: true })(state)),
  ]

  test('a payment moves by the table, is asked about only with an answer, and is derived the same way again', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 12 }), (steps) => {
        let state = two
        for (const step of steps) {
          const next = step(state)
          findPath(state.payment.status, next.payment.status)
          state = next
        }
        expect(createState(state.payment, state)).toEqual(state)
        expect(toFunds(state).sales.filter(({ state: sale }) => sale === 'asked').length).toBeLessThan(2)
      }),
      { numRuns: 500 },
    )
  })
})
