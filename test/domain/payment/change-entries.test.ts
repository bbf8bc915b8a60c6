import { describe, expect, test } from '@jest/globals'
import { type Cause, describeChange, listLossChanges } from '../../../src/domain/payment/change-entries.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import {
  after,
  attempt,
  brings,
  computed,
  decides,
  fills,
  handed,
  handsOver,
  newState,
  opened,
  pays,
  paysOut,
  reads,
  type Step,
  says,
  sets,
  setsAttempt,
  settled,
  sold,
  usdcAttempt,
} from './payment-story.ts'

const one = opened(attempt())
const two = opened(attempt(), attempt({ id: 'att_2' }))
const usdc = opened(usdcAttempt())
const gone = says({ status: 'canceled' })
const closes = (closedAs: 'expired' | 'canceled' | 'failed'): Step => sets({ closedAs })
const ends: Step = (state) =>
  computed({ ...state, sales: state.sales.map((sale) => ({ ...sale, state: 'ended' as const })) })
const ODD = { status: 'paid', amount: { minor: '9000', currency: 'EUR' } } as const
const odd = (minor: string): Step => says({ status: 'paid', received: '10000', amount: { minor, currency: 'EUR' } })
const cause = (say: Extract<Cause, { say: string }>['say'], outside = false): Cause => ({
  say,
  data: { operator: 'ada', reason: 'looked at it', outside },
})

const byMerchant: Cause = { say: 'give_back', data: { refund: 're_1', outside: false } }

/** The entries of the timeline: the kind, or the state that it enters, and the actor. */
function listEntries(before: PaymentWithAttempts, step: Step, why: Cause | null = null): string[] {
  const { moves, notes } = describeChange(before, step(before), why)
  return [
    ...moves.map(({ to, note }) => `→ ${to}: ${note.message} (${note.actor})`),
    ...notes.map(({ kind, message, actor }) => `${kind}: ${message} (${actor})`),
  ]
}

describe('The entries of a change', () => {
  test.each<[string, PaymentWithAttempts, Step, readonly string[]]>([
    [
      'the first order',
      newState,
      (state) => computed({ ...state, attempts: [attempt()] }),
      ['→ pending: The buyer opened a partner order (buyer)'],
    ],
    [
      'a confirmation that runs',
      one,
      says({ status: 'confirming' }),
      ['→ processing: The partner is confirming the payment (partner)'],
    ],
    ['the expiry of a new payment', newState, closes('expired'), ['→ expired: Nothing was paid in time (system)']],
    ['the expiry of an open order', one, closes('expired'), ['→ expired: Nothing was paid in time (system)']],
    [
      'the cancellation of a new payment',
      newState,
      closes('canceled'),
      ['→ canceled: The merchant canceled the payment (merchant)'],
    ],
    [
      'the cancellation of an open order',
      one,
      closes('canceled'),
      ['→ canceled: The merchant canceled the payment (merchant)'],
    ],
    [
      'an identity check that was not passed',
      one,
      closes('failed'),
      ['→ failed: The identity check was not passed, and no other method is allowed (partner)'],
    ],
    [
      'late money after the failure that is reversed',
      after(one, closes('failed'), pays(), decides({ say: 'settle' })),
      gone,
      ['→ failed: The partner reversed the payment for good (partner)'],
    ],
    [
      'late money after the expiry that is reversed',
      after(one, closes('expired'), pays()),
      gone,
      ['→ expired: The partner reversed the payment for good (partner)'],
    ],
    [
      'late money after the cancellation that is reversed',
      after(one, closes('canceled'), pays()),
      gone,
      ['→ canceled: The merchant had canceled it, and the money that arrived later has been reversed (system)'],
    ],
    [
      'late money after the cancellation',
      after(one, closes('canceled')),
      pays(),
      ['→ processing: The buyer paid after the cancellation (partner)'],
    ],
    [
      'late money after the failure',
      after(one, closes('failed')),
      pays(),
      ['→ under_review: Money arrived after the failure (partner)'],
    ],
    [
      'a converter that refuses',
      after(one, pays()),
      sets({ stuck: 'att_1' }),
      ['→ under_review: The converter refused the conversion, or has not filled it in time (system)'],
    ],
    [
      'a fill far off the rate',
      after(one, pays()),
      fills(100_000_000n),
      [
        '→ under_review: The converter’s fill is too far from the locked rate (system)',
        'payment.sold: The converter has filled the order (system)',
      ],
    ],
    [
      'another token',
      usdc,
      says({ status: 'wrong_asset' }),
      ['→ under_review: The buyer sent a token other than USDC (partner)'],
    ],
    [
      'withheld money',
      one,
      says({ status: 'on_hold' }),
      ['→ under_review: The partner withholds the money for a check (partner)'],
    ],
    [
      'two payments at once of a payment that is held',
      after(two, sets({ held: true })),
      (state) =>
        computed({
          ...state,
          attempts: state.attempts.map((each) => reads(each, { status: 'paid', received: '10000' })),
        }),
      [
        '→ under_review: Money arrived, and waits because an operator holds the payment (partner)',
        'attempt.paid: The partner reports: paid (partner)',
      ],
    ],
    [
      'a part of the price that is given back',
      after(usdc, brings('open', '50000000')),
      setsAttempt({ back: 'asked' }),
      ['→ under_review: The money goes back to the buyer (operator)'],
    ],
    ['money', one, pays(), ['→ processing: The partner confirmed the payment (partner)']],
    [
      'money that was being confirmed',
      after(one, says({ status: 'confirming' })),
      pays(),
      ['attempt.paid: The partner reports: paid (partner)'],
    ],
    [
      'a withdrawn confirmation',
      after(one, says({ status: 'confirming' })),
      gone,
      ['→ pending: The partner withdrew its confirmation (partner)'],
    ],
    [
      'money that was released',
      after(one, says({ status: 'on_hold', received: '10000' })),
      pays(),
      ['→ processing: The partner released the payment (partner)'],
    ],
    [
      'late money',
      after(one, sets({ closedAs: 'expired' })),
      pays(),
      ['→ processing: The buyer paid after the expiry (partner)'],
    ],
    ['too little', one, pays('1'), ['→ under_review: The buyer paid less than was asked (partner)']],
    [
      'a declined order',
      one,
      says({ status: 'declined' }),
      ['attempt.declined: The attempt was declined; the buyer may try again (partner)'],
    ],
    [
      'a declined order of a payment that is over',
      after(two, pays(), fills(), handsOver, paysOut()),
      says({ status: 'declined' }, 'att_2'),
      ['attempt.declined: The partner reports: declined (partner)'],
    ],
    [
      'money of a payment that was held before it came',
      after(one, sets({ held: true })),
      pays(),
      ['→ under_review: Money arrived, and waits because an operator holds the payment (partner)'],
    ],
    [
      'a partner that is silent',
      after(one, says({ status: 'confirming' })),
      setsAttempt({ silent: true }),
      ['→ under_review: The payment waits for an operator, who asks the partner (system)'],
    ],
    ['more money', after(one, pays()), pays('12000'), ['payment.money_came: More money arrived (partner)']],
    ['less money', after(one, pays()), pays('9950'), ['payment.money_went: The partner reversed money (partner)']],
    [
      'a report that does not match next to money',
      after(one, pays()),
      says({ status: 'paid' }),
      ['→ under_review: The partner’s report does not match the order (partner)'],
    ],
    ['the sale that is taken', after(one, pays()), fills(), ['payment.converted: Converted to USDC (system)']],
    [
      'a sale that is not taken',
      after(one, pays(), gone),
      fills(),
      ['payment.sold: The converter has filled the order (system)'],
    ],
    [
      'the sale of USDC with its money',
      usdc,
      brings('paid', '110000000'),
      ['→ processing: The partner confirmed the payment (partner)', 'payment.converted: Converted to USDC (system)'],
    ],
    ['the payout', sold, handsOver, ['→ settling: Payout queued (system)']],
    ['the success', handed, paysOut(), ['→ succeeded: The USDC is final at the wallet of the merchant (system)']],
    [
      'a payout that its engine has stopped',
      handed,
      sets({ payout: 'stopped' }),
      ['→ under_review: The settlement has stopped the payout (system)'],
    ],
    [
      'a void for a give-back',
      after(handed, decides({ say: 'give_back', accountId: 'att_1' })),
      sets({ payout: 'voiding' }),
      ['→ under_review: The money goes back to the buyer (operator)'],
    ],
    [
      'a void because the money was reversed',
      after(handed, gone),
      sets({ payout: 'voiding' }),
      ['→ under_review: The money went before it was settled: the payout is voided (partner)'],
    ],
    [
      'a payout that its engine has stopped while the money goes back',
      after(handed, decides({ say: 'give_back', accountId: 'att_1' })),
      sets({ payout: 'stopped' }),
      ['→ under_review: The settlement has stopped the payout (system)'],
    ],
    [
      'a payout that continues',
      after(handed, sets({ payout: 'stopped' })),
      sets({ payout: 'handed' }),
      ['→ settling: Payout resumed (system)'],
    ],
    [
      'a void whose money was reversed',
      after(handed, gone),
      sets({ payout: 'void' }),
      ['→ refunded: The money went back to the buyer through the partner (operator)'],
    ],
    [
      'a refund of one of two orders by the partner alone',
      after(two, says({ status: 'canceled' }, 'att_2'), pays()),
      says({ status: 'refunded' }),
      ['→ refunded: The partner returned the money (partner)'],
    ],
    [
      'money that the buyer got from elsewhere, from one of two orders',
      after(opened(usdcAttempt(), attempt({ id: 'att_2', status: 'canceled' })), brings('open', '50000000')),
      decides({ say: 'give_back', accountId: 'att_1', outside: true }),
      ['→ refunded: The money went back to the buyer outside of the partner (operator)'],
    ],
    [
      'a refund that is requested from the partner',
      after(two, pays(), pays('10000', 'att_2'), decides({ say: 'give_back', accountId: 'att_2' })),
      setsAttempt({ back: 'asked' }, 'att_2'),
      ['refund.requested: A refund was requested from the partner (system)'],
    ],
    [
      'a refund that the partner refuses',
      after(two, pays(), pays('10000', 'att_2'), setsAttempt({ back: 'asked' }, 'att_2')),
      setsAttempt({ back: 'no', refusals: 1 }, 'att_2'),
      [],
    ],
    [
      'more money of an order whose refund was requested',
      after(two, pays(), pays('10000', 'att_2'), setsAttempt({ back: 'asked' }, 'att_2')),
      pays('12000', 'att_2'),
      ['payment.money_came: More money arrived (partner)'],
    ],
    [
      'another report that does not match',
      after(one, pays(), odd('9000')),
      odd('8000'),
      ['payment.misfit: The partner’s report does not match the order (partner)'],
    ],
    ['the same report that does not match', after(one, pays(), odd('9000')), odd('9000'), []],
    [
      'a report that matches again',
      after(one, pays(), odd('9000')),
      pays(),
      ['→ processing: The partner released the payment (partner)'],
    ],
    [
      'a report of too little money that matches again',
      after(one, says({ ...ODD, received: '3000' })),
      pays('3000'),
      [],
    ],
    [
      'a give-back through the partner, whose order is canceled then',
      after(
        handed,
        decides({ say: 'give_back', accountId: 'att_1' }),
        sets({ payout: 'void' }),
        setsAttempt({ back: 'asked' }),
      ),
      gone,
      ['→ refunded: The money went back to the buyer through the partner (operator)'],
    ],
    [
      'a second sale that brings nothing, after the first one',
      after(two, pays(), gone, ends, pays('10000', 'att_2'), says({ status: 'canceled' }, 'att_2')),
      ends,
      ['payment.conversion_ended: The converter has not filled the order, and never will (system)'],
    ],
    [
      'a decline of the second order, after the first one',
      after(two, says({ status: 'declined' })),
      says({ status: 'declined' }, 'att_2'),
      ['attempt.declined: The attempt was declined; the buyer may try again (partner)'],
    ],
    [
      'a sale that brings nothing',
      after(one, pays(), gone),
      ends,
      ['payment.conversion_ended: The converter has not filled the order, and never will (system)'],
    ],
    ['a refund of a settled payment', after(settled, setsAttempt({ refunding: '2000' })), pays('8000'), []],
    [
      'a reversal that is larger than the refund',
      after(settled, setsAttempt({ refunding: '1999' })),
      pays('8000'),
      [
        'payment.money_went: The partner reversed money (partner)',
        'payment.chargeback: The partner reversed the money after the conversion (partner)',
      ],
    ],
    [
      'a void whose money is there',
      handed,
      sets({ payout: 'void' }),
      ['→ under_review: The payout can no longer be paid (system)'],
    ],
    [
      'a refund by the partner alone',
      after(one, pays()),
      says({ status: 'refunded' }),
      ['→ refunded: The partner returned the money (partner)'],
    ],
    [
      'a chargeback',
      settled,
      pays('4000'),
      [
        'payment.money_went: The partner reversed money (partner)',
        'payment.chargeback: The partner reversed the money after the conversion (partner)',
      ],
    ],
    [
      'a chargeback that was won',
      after(settled, pays('4000')),
      pays(),
      [
        'payment.money_came: More money arrived (partner)',
        'payment.chargeback_won: Money that the partner had reversed is there again: the loss is booked back (partner)',
      ],
    ],
  ])('a change has its entries: %s', (_what, before, step, entries) => {
    expect(listEntries(before, step)).toEqual(entries)
  })

  test.each<[string, PaymentWithAttempts, Step, Cause, readonly string[]]>([
    [
      'settled',
      after(one, pays('1')),
      decides({ say: 'settle' }),
      cause('settle'),
      ['→ processing: An operator settles what is there (operator)'],
    ],
    [
      'given back later: the payment does not move yet',
      after(two, pays(), pays('10000', 'att_2')),
      decides({ say: 'give_back', accountId: 'att_2' }),
      cause('give_back'),
      ['decision.give_back: An operator gives money back to the buyer (operator)'],
    ],
    [
      'given back from elsewhere',
      after(one, pays()),
      decides({ say: 'give_back', accountId: 'att_1', outside: true }),
      cause('give_back', true),
      ['→ refunded: The money went back to the buyer outside of the partner (operator)'],
    ],
    [
      'given back in part from elsewhere',
      after(settled, pays('15000')),
      decides({ say: 'give_back', accountId: 'att_1', outside: true }),
      cause('give_back', true),
      ['decision.give_back: The buyer got money back from elsewhere (operator)'],
    ],
    [
      'written off with another token: the payment waits for its buyer again',
      after(usdc, says({ status: 'wrong_asset' })),
      decides({ say: 'write_off' }),
      cause('write_off'),
      ['→ pending: An operator recorded that it is dealt with (operator)'],
    ],
    [
      'ended without money',
      after(one, says({ status: 'on_hold' })),
      decides({ say: 'write_off' }),
      cause('write_off'),
      ['→ failed: An operator ended it as failed, before any money arrived (operator)'],
    ],
    [
      'given back through the partner',
      after(one, says({ status: 'open', received: '3000' })),
      decides({ say: 'give_back', accountId: 'att_1' }),
      cause('give_back'),
      ['→ under_review: The money goes back to the buyer (operator)'],
    ],
    [
      'given back by a refund of the merchant',
      after(one, pays()),
      decides({ say: 'give_back', accountId: 'att_1' }),
      byMerchant,
      ['→ under_review: The merchant refunds the payment before it is settled (merchant)'],
    ],
    [
      'given back by a refund of the merchant, while the payout is voided',
      after(handed, sets({ payout: 'stopped' })),
      decides({ say: 'give_back', accountId: 'att_1' }),
      byMerchant,
      ['decision.give_back: The merchant refunds the payment before it is settled (merchant)'],
    ],
    [
      'held before any money',
      one,
      decides({ say: 'hold' }),
      cause('hold'),
      ['decision.hold: An operator holds the payment (operator)'],
    ],
    [
      'held',
      after(one, pays()),
      decides({ say: 'hold' }),
      cause('hold'),
      ['→ under_review: An operator holds the payment (operator)'],
    ],
    [
      'released',
      after(one, pays(), sets({ held: true })),
      decides({ say: 'release' }),
      cause('release'),
      ['→ processing: An operator released the hold (operator)'],
    ],
    [
      'tried again',
      after(handed, sets({ payout: 'stopped' })),
      decides({ say: 'settle' }),
      cause('settle'),
      ['→ processing: The payout is tried again (operator)'],
    ],
  ])('a decision has its entry: %s', (_what, before, step, why, entries) => {
    expect(listEntries(before, step, why)).toEqual(entries)
    const { moves, notes } = describeChange(before, step(before), why)
    const [entry] = [...moves.map(({ note }) => note), ...notes]
    expect(entry?.data).toMatchObject(why.data)
  })

  test('a change without an effect has no entry', () => {
    expect(listEntries(settled, (state) => state)).toEqual([])
    expect(listEntries(one, setsAttempt({ cancelAsked: true }))).toEqual([])
  })

  test('amounts are in the unit of the account, and a failure is named', () => {
    const [move] = describeChange(one, pays('3000')(one), null).moves
    expect(move?.note.data).toMatchObject({ attempt_id: 'att_1', provider: 'wallet_app', asset: 'EUR', units: '3000' })
    const [note] = describeChange(one, says({ status: 'declined', failureCode: 'declined' })(one), null).notes
    expect(note?.data).toMatchObject({ failure_code: 'declined' })
  })
})

describe('The data of an entry', () => {
  const listData = (before: PaymentWithAttempts, step: Step): (object | undefined)[] =>
    describeChange(before, step(before), null).notes.map(({ data }) => data)

  test('an entry about an order names nothing that it did not report', () => {
    const declined = says({ status: 'declined', failureCode: 'declined' })
    expect(listData(one, declined)).toStrictEqual([
      { attempt_id: 'att_1', provider: 'wallet_app', failure_code: 'declined' },
    ])
    expect(listData(two, says({ status: 'verification_required' }))).toStrictEqual([
      { attempt_id: 'att_1', provider: 'wallet_app' },
    ])
  })

  test('a failure that was named before is not named again', () => {
    const declined = after(two, says({ status: 'declined', failureCode: 'declined' }))
    expect(listData(declined, says({ status: 'expired', failureCode: 'declined' }))).toStrictEqual([
      { attempt_id: 'att_1', provider: 'wallet_app' },
    ])
  })

  test('an entry about a report that does not match has the report', () => {
    const before = after(one, pays(), odd('9000'))
    const misfit = odd('8000')(before).attempts[0]?.misfit
    expect(misfit).not.toBeNull()
    expect(listData(before, odd('8000'))).toStrictEqual([{ attempt_id: 'att_1', provider: 'wallet_app', misfit }])
  })

  test('entries about a conversion have its figures, and those of the sale that was taken', () => {
    const unneeded = after(two, pays(), gone)
    expect(listData(unneeded, fills(109_000_000n))).toStrictEqual([{ reference: 'fill', filled_micro: '109000000' }])
    const first = after(unneeded, fills(109_000_000n), (state) =>
      computed({ ...state, sales: state.sales.map((sale) => ({ ...sale, reference: 'first' })) }),
    )
    expect(listData(after(first, pays('10000', 'att_2')), fills())).toStrictEqual([
      { gross_micro: '110000000', reference: 'fill' },
    ])
  })

  test('entries about a chargeback have its amount and the loss in total', () => {
    const data = (units: string, lost: string) => ({ attempt_id: 'att_1', asset: 'EUR', units, lost })
    expect(listData(settled, pays('4000'))[1]).toStrictEqual(data('6000', '6000'))
    expect(listData(after(settled, pays('4000')), pays('7000'))[1]).toStrictEqual(data('3000', '3000'))
  })
})

test('a change that moves a payment twice has an entry for each move', () => {
  const { moves } = describeChange(newState, after(one, says({ status: 'on_hold' })), null)
  expect(moves.map(({ from, to, note }) => `${from} → ${to}: ${note.message}`)).toEqual([
    'created → pending: The buyer opened a partner order',
    'pending → under_review: The partner withholds the money for a check',
  ])
})

test('a cause that is named is the reason of the move', () => {
  const { moves } = describeChange(newState, closes('expired')(newState), { why: 'gave_way', data: { place: 1 } })
  expect(moves.map(({ note }) => note)).toMatchObject([
    { actor: 'system', data: { place: 1 }, message: expect.stringContaining('another buyer took the place') },
  ])
})

test('a loss of one order does not count for another one', () => {
  const before = after(two, pays(), fills(), handsOver, paysOut(), pays('4000'))
  expect(listLossChanges(before, pays('3000')(before)).map(({ attempt: { id }, units }) => [id, units])).toEqual([
    ['att_1', 1000n],
  ])
})

test('the loss after the payout is counted in total, and so is the money that was won back', () => {
  const changes = (before: PaymentWithAttempts, step: Step) =>
    listLossChanges(before, step(before)).map(({ units, lost }) => [units, lost])
  expect(changes(settled, pays('4000'))).toEqual([[6000n, 6000n]])
  expect(changes(after(settled, pays('4000')), pays('1000'))).toEqual([[3000n, 9000n]])
  expect(changes(after(settled, pays('4000')), pays('7000'))).toEqual([[-3000n, 3000n]])
  expect(changes(settled, pays('15000'))).toEqual([])
  expect(changes(handed, gone)).toEqual([])
})
