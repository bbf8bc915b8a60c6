import { describe, expect, test } from '@jest/globals'
import type { StoredDecision } from '../../src/db/payments/decisions.ts'
import type { PayoutView } from '../../src/db/settlement/payouts.ts'
import type { PaymentWithAttempts } from '../../src/domain/payment/payment-object.ts'
import { describeEntry } from '../../src/operator/payments/entry-lines.ts'
import { describeEffect, listMoneyLines } from '../../src/operator/payments/money-lines.ts'
import {
  AT,
  after,
  attempt,
  decides,
  fills,
  handed,
  handsOver,
  opened,
  pays,
  says,
  sets,
  settled,
} from '../domain/payment/payment-story.ts'

const one = opened(attempt())
const HASH = `0x${'a'.repeat(64)}` as const

const writtenOff: StoredDecision = {
  at: AT,
  version: 9,
  say: 'write_off',
  attempt_id: null,
  outside: false,
  proof: null,
  operator: 'mira',
  reason: 'claimed',
}
const voided = { state: 'voided', stopReason: null, recipient: '0x1', txHash: HASH, proof: { txHash: HASH } }

function listLines(state: PaymentWithAttempts, more: { decisions?: StoredDecision[]; payout?: object } = {}): string[] {
  const payout = (more.payout ?? null) as PayoutView | null
  return listMoneyLines({ state, payout, decisions: more.decisions ?? [], askedAt: new Map([[1, AT]]) })
}

describe('The lines about a payment’s money', () => {
  test.each<[string, PaymentWithAttempts, Parameters<typeof listLines>[1], readonly string[]]>([
    [
      'what is the payment’s of an order that has too much',
      after(settled, pays('12100')),
      {},
      ['  the partner has 121.00 EUR', '  of it 100.00 EUR is the payment’s', '  of it 21.00 EUR is the buyer’s'],
    ],
    [
      'why money is the buyer’s until the partner releases it',
      after(one, says({ status: 'on_hold', received: '4600' })),
      {},
      ['  of it 46.00 EUR is the buyer’s, until the partner releases it'],
    ],
    [
      'why money is the buyer’s until an operator accepts the order',
      after(one, says({ status: 'paid', received: '4600', amount: { minor: '4600', currency: 'EUR' } })),
      {},
      ['  of it 46.00 EUR is the buyer’s, until an operator accepts the order'],
    ],
    ['what is lost', after(settled, pays('4000')), {}, ['  loss of 60.00 EUR, not written off']],
    [
      'who has written a loss off',
      after(settled, says({ status: 'refunded' }), decides({ say: 'write_off' })),
      { decisions: [writtenOff] },
      ['  loss of 100.00 EUR, written off by mira'],
    ],
    [
      'since when the converter owes an answer',
      after(one, pays()),
      {},
      [`sale 1 of 100.00 EUR  asked, without an answer since ${AT}`],
    ],
    ['what was bought', settled, {}, ['USDC: 110.000000 bought, 4.950000 fee, 105.050000 to the merchant']],
    [
      'what the platform bears of a fill that is far off',
      after(one, pays(), fills(100_000_000n), decides({ say: 'settle' })),
      {},
      [
        'USDC: 110.000000 by the locked rate (100.000000 bought; the platform bears 10.000000), 4.950000 fee, 105.050000 to the merchant',
      ],
    ],
    [
      'that the merchant gets nothing of a payout that is void',
      after(handed, sets({ payout: 'void' })),
      { payout: voided },
      ['USDC: 110.000000 bought', `The merchant gets nothing: the payout is voided (canceled by ${HASH})`],
    ],
    [
      'that the signatures of a void payout have expired',
      after(handed, sets({ payout: 'void' })),
      { payout: { ...voided, txHash: null, proof: null } },
      ['The merchant gets nothing: the payout is voided (its signatures have expired unused)'],
    ],
  ])('an operator reads about a payment’s money: %s', (_what, state, more, lines) => {
    expect(listLines(state, more)).toEqual(expect.arrayContaining([...lines]))
  })

  test('an operator reads no net amount if the merchant gets nothing', () => {
    expect(listLines(after(handed, sets({ payout: 'void' }))).join()).not.toContain('to the merchant')
  })

  test('an operator reads what each give-back does, with its amount', () => {
    const state = after(one, pays(), fills(), handsOver, pays('12100'))
    const back = { say: 'give_back', attempt: 'att_1' } as const
    expect(describeEffect(state, { ...back, outside: true })).toBe(
      'records that the buyer got 21.00 EUR from elsewhere',
    )
    expect(describeEffect(after(one, pays()), back)).toBe('the partner is asked to give back 100.00 EUR')
    expect(describeEffect(state, { say: 'hold' })).toBeNull()
  })
})

test.each([
  [
    { actor: 'operator', data: { operator: 'grace', reason: 'the fraud desk asked to wait' } },
    'moved (by grace: the fraud desk asked to wait)',
  ],
  [
    { actor: 'operator', data: { operator: 'ada', reason: 'paid twice', proof: 'SEPA 0815' } },
    'moved (by ada: paid twice; proof: SEPA 0815)',
  ],
  [{ actor: 'partner', data: {} }, 'moved (partner)'],
  [{ actor: 'system', data: {} }, 'moved'],
  [
    { actor: 'system', data: { units: '25', token: '0x2', sender: '0x3', tx_hash: HASH } },
    `moved: 25 units of 0x2 from 0x3 in ${HASH}`,
  ],
])('an entry of the timeline has its facts: %j', (entry, line) => {
  expect(describeEntry({ ...entry, at: AT, message: 'moved' })).toBe(`${AT}  ${line}`)
})
