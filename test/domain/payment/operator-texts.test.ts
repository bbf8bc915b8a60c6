import { describe, expect, test } from '@jest/globals'
import { describeCommand, describeStepToOperator } from '../../../src/domain/payment/operator-texts.ts'
import type { PaymentWithAttempts } from '../../../src/domain/payment/payment-object.ts'
import { toSnapshot } from '../../../src/domain/payment/snapshot.ts'
import {
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
  says,
  sets,
  setsAttempt,
  settled,
  usdcAttempt,
} from './payment-story.ts'

const one = opened(attempt())
const usdc = opened(usdcAttempt())
const silent = after(one, says({ status: 'confirming' }), setsAttempt({ silent: true }))

describe('Texts for operators about a waiting payment', () => {
  test.each<[string, PaymentWithAttempts, string | RegExp]>([
    ['nothing has come', one, /^No money has arrived\. Waiting for the buyer until 2026-\S+Z\.$/],
    [
      'it is held before its money comes',
      after(one, sets({ held: true })),
      /An operator holds it: money that arrives waits/,
    ],
    [
      'a part has come',
      after(usdc, brings('open', '5000000')),
      /^A part of the price has arrived\. Waiting for the buyer/,
    ],
    [
      'a person is asked about money',
      after(one, pays('1')),
      'It waits for an operator. The money is safe where it is.',
    ],
    ['a person is asked about no money', silent, 'It waits for an operator.'],
    ['the platform has lost money', after(settled, pays('4000')), 'It waits for an operator.'],
    [
      'an operator has ended it, and its partner may still bring money',
      after(silent, decides({ say: 'write_off' })),
      /^The payment has ended\. Money that still arrives until 2026-\S+Z waits for a decision\. Nothing to do\.$/,
    ],
    [
      'it has expired',
      after(one, sets({ closedAs: 'expired' })),
      /^The payment has ended\. Money that still arrives until 2026-\S+Z is settled\. Nothing to do\.$/,
    ],
    [
      'the merchant has canceled it',
      after(one, sets({ closedAs: 'canceled' })),
      /^The payment has ended\. Money that still arrives until 2026-\S+Z is settled\. Nothing to do\.$/,
    ],
    [
      'its partner confirms money',
      after(one, says({ status: 'confirming' })),
      /^Waiting for the partner\. An unfinished order may still bring money until 2026-\S+Z\.$/,
    ],
    ['the merchant got USDC that was not expected', after(handed, paysOut('1')), 'It waits for an operator.'],
    [
      'the platform has lost money, and another order has some',
      after(
        opened(attempt(), attempt({ id: 'att_2' })),
        pays(),
        fills(),
        handsOver,
        paysOut(),
        pays('10000', 'att_2'),
        pays('4000'),
      ),
      'It waits for an operator.',
    ],
    [
      'it has its money',
      after(one, pays()),
      'The partner has the buyer’s money. It is being converted to USDC and paid out.',
    ],
    [
      'it is converted',
      after(one, pays(), fills()),
      'Converted. The USDC is on its way to the merchant, and counts when its block is final.',
    ],
    [
      'its payout is on its way',
      handed,
      'Converted. The USDC is on its way to the merchant, and counts when its block is final.',
    ],
    [
      'its payout is being voided',
      after(handed, sets({ payout: 'voiding' })),
      'Nothing more is sent. The system is finding out whether the payout was already on its way.',
    ],
    [
      'a sale is not needed any more',
      after(one, pays(), says({ status: 'canceled' })),
      'A conversion that is not needed is still open: the converter is asked until it has filled or ended it.',
    ],
    [
      'it is held with its money',
      after(one, pays(), sets({ held: true })),
      'An operator holds it. Nothing moves until `release`.',
    ],
    [
      'a payout is in the way of a give-back',
      after(handed, decides({ say: 'give_back', accountId: 'att_1' })),
      'The payout is voided first. Then the money goes back to the buyer.',
    ],
    [
      'money goes back',
      after(one, pays(), fills(), decides({ say: 'give_back', accountId: 'att_1' }), sets({ payout: 'void' })),
      'The partner is asked now to give the money back to the buyer.',
    ],
    ['it is over', after(settled, sets({ listenEnded: true })), 'Nothing is left to do.'],
  ])('an operator reads why a payment waits: %s', (_when, state, text) => {
    expect(describeStepToOperator(toSnapshot(state))).toEqual(
      typeof text === 'string' ? text : expect.stringMatching(text),
    )
  })
})

test('an operator reads no time of an order that brings no more money', () => {
  const confirming = toSnapshot(after(one, says({ status: 'confirming' })))
  expect(describeStepToOperator({ ...confirming, listenUntil: null })).toBe('Waiting for the partner.')
})

test('a command can be pasted: its placeholders are quoted, and a give-back from elsewhere asks for its proof', () => {
  expect(describeCommand('pay_1', { say: 'give_back', attempt: 'att_1', outside: true }, 7)).toBe(
    `pinrail payments decide pay_1 give_back --attempt att_1 --outside --proof '<reference>' --version 7 --operator '<name>' --reason '<text>'`,
  )
  expect(describeCommand('pay_1', { say: 'settle' }, 7)).toBe(
    `pinrail payments decide pay_1 settle --version 7 --operator '<name>' --reason '<text>'`,
  )
})
