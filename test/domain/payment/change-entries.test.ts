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
const cause = (say: Extract<Cause, { say: string }>['say'], outside = false): Cause => ({
  say,
  data: { operator: 'ada', reason: 'looked at it', outside },
})

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
    expect(entry?.data).toMatchObject({ operator: 'ada', reason: 'looked at it' })
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

test('the loss after the payout is counted in total, and so is the money that was won back', () => {
  const changes = (before: PaymentWithAttempts, step: Step) =>
    listLossChanges(before, step(before)).map(({ units, lost }) => [units, lost])
  expect(changes(settled, pays('4000'))).toEqual([[6000n, 6000n]])
  expect(changes(after(settled, pays('4000')), pays('1000'))).toEqual([[3000n, 9000n]])
  expect(changes(after(settled, pays('4000')), pays('7000'))).toEqual([[-3000n, 3000n]])
  expect(changes(settled, pays('15000'))).toEqual([])
  expect(changes(handed, gone)).toEqual([])
})
