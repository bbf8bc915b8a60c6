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
  opened,
  pays,
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
    expect(describeStepToOperator(toSnapshot(state))).toMatch(text)
  })
})

test('a command can be pasted: its placeholders are quoted, and a give-back from elsewhere asks for its proof', () => {
  expect(describeCommand('pay_1', { say: 'give_back', attempt: 'att_1', outside: true }, 7)).toBe(
    `pinrail payments decide pay_1 give_back --attempt att_1 --outside --proof '<reference>' --version 7 --operator '<name>' --reason '<text>'`,
  )
  expect(describeCommand('pay_1', { say: 'settle' }, 7)).toBe(
    `pinrail payments decide pay_1 settle --version 7 --operator '<name>' --reason '<text>'`,
  )
})
