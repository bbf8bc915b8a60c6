import { describe, expect, test } from '@jest/globals'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import {
  advanceFunds,
  createBooking,
  findOpenSale,
  toAccount,
  toFunds,
  toMoney,
  withFunds,
} from '../../../../src/domain/payment/funds/stored-funds.ts'
import type { Attempt, PaymentWithAttempts } from '../../../../src/domain/payment/payment-object.ts'
import {
  after,
  attempt,
  brings,
  decides,
  fills,
  GROSS,
  handed,
  NET,
  opened,
  pays,
  paysOut,
  says,
  sets,
  setsAttempt,
  sold,
  usdcAttempt,
} from '../payment-story.ts'

const one = opened(attempt())
const misfit = { why: 'amount', status: 'paid', amount: { minor: '1', currency: 'EUR' }, received: null } as const

describe('An account of a stored attempt', () => {
  test.each<[string, Attempt, Partial<Account>]>([
    [
      'an order in EUR',
      attempt({ status: 'on_hold', held: '5' }),
      { asset: 'EUR', asked: 10_000n, report: 'withheld' },
    ],
    ['USDC at an address', usdcAttempt(), { asset: 'USDC', asked: 110_000_000n }],
    ['USDC that nobody was asked for yet', usdcAttempt({ askedMicro: null }), { asked: 0n }],
    ['what does not match', attempt({ misfit }), { misfit: 'odd' }],
    ['which is accepted', attempt({ misfit, misfitAnswer: 'accepted' }), { misfit: 'accepted' }],
    ['which is dismissed', attempt({ misfit, misfitAnswer: 'dismissed' }), { misfit: 'none' }],
    ['another token', attempt({ misfit: { ...misfit, why: 'token' } }), { misfit: 'other_token' }],
    [
      'another token that is dismissed',
      attempt({ misfit: { ...misfit, why: 'token' }, misfitAnswer: 'dismissed' }),
      { misfit: 'none' },
    ],
  ])('an account is computed from a stored attempt: %s', (_what, stored, account) => {
    expect(toAccount(stored)).toMatchObject(account)
  })

  test('an account is written back as it was read', () => {
    const odd = says({ status: 'paid', received: '10000', amount: { minor: '9000', currency: 'EUR' } })
    for (const state of [
      one,
      sold,
      handed,
      after(handed, paysOut()),
      after(one, odd),
      after(one, odd, sets({ held: true })),
    ])
      expect(withFunds(state, toFunds(state))).toEqual(state)
  })

  test('an account keeps the answer about a misfit', () => {
    const odd = opened(attempt({ status: 'paid', held: '10000', misfit }))
    const answers = (state: PaymentWithAttempts, say: 'settle' | 'write_off') =>
      after(state, decides({ say })).attempts.map((known) => known.misfitAnswer)
    expect([answers(odd, 'settle'), answers(odd, 'write_off')]).toEqual([['accepted'], ['none']])
    expect(answers(opened(attempt({ status: 'paid', misfit })), 'write_off')).toEqual(['dismissed'])
    const back = after(odd, decides({ say: 'give_back', accountId: 'att_1', outside: true }))
    expect(back.attempts[0]).toMatchObject({ outside: '10000', returned: true, misfitAnswer: 'dismissed' })
  })

  test('an account has its units in the currency of its buyer', () => {
    expect(toMoney(attempt(), 5000n)).toEqual({ minor: '5000', currency: 'EUR' })
    // 110 USDC were asked for 100.00 EUR.
    expect(toMoney(usdcAttempt(), 110_000_000n).minor).toBe('10000')
    expect(toMoney(usdcAttempt(), 55_010_999n).minor).toBe('5000')
    expect(toMoney(usdcAttempt({ askedMicro: null }), 1n).minor).toBe('0')
  })
})

describe('The funds of a stored payment', () => {
  test('the accounts whose money arrived too late are named', () => {
    const card = attempt({ id: 'att_2', provider: 'card_partner', method: 'card' })
    const both = after(opened(attempt(), card), sets({ closedAs: 'expired' }), pays(), pays('10000', 'att_2'))
    const late = after(both, setsAttempt({ paidAt: '2027-01-01T00:00:00.000Z' }, 'att_2'))
    expect([both, late].map((state) => toFunds(state).late)).toStrictEqual([[], ['att_2']])
  })

  test('the sale that is taken has its number and its figures', () => {
    const second = after(one, pays('9950'), pays('10000'), fills(), fills())
    expect(second.payment.usdc).toMatchObject({ gross: `${GROSS}` })
    expect(toFunds(second).taken).toMatchObject({ number: 2, units: 10_000n, gross: GROSS, fee: 4_950_000n })
  })

  test('a payout has a sum only when it is paid, and a reason only while it is stopped', () => {
    const stopped = after(handed, sets({ payout: 'stopped', stoppedFor: 'blacklisted' }))
    const states = [one, handed, stopped, after(stopped, decides({ say: 'settle' })), after(handed, paysOut())]
    expect(states.map(({ payment: { paidMicro, stoppedFor } }) => [paidMicro, stoppedFor])).toStrictEqual([
      [null, null],
      [null, null],
      [null, 'blacklisted'],
      [null, null],
      [NET, null],
    ])
  })

  test('a written-off loss is lowered by the units that are won back', () => {
    const lost = after(handed, paysOut(), pays('4000'), decides({ say: 'write_off' }))
    const states = [lost, after(lost, pays('7000')), after(lost, pays()), after(lost, pays(), pays('4000'))]
    expect(states.map(({ attempts }) => attempts[0]?.writtenOff)).toStrictEqual(['6000', '3000', '0', '0'])
  })
})

describe('Steps that need no other party are done at once', () => {
  test('the order for the converter is stored before the converter is asked, under its number, and once', () => {
    const paid = after(one, pays('9950'))
    const sale = { number: 1, accountId: 'att_1', units: 9950n, gross: 109_450_000n, fill: null, reference: null }
    expect(paid.sales).toEqual([{ ...sale, state: 'asked' }])
    expect(advanceFunds(paid)).toEqual(paid)
    expect(findOpenSale(paid)?.number).toBe(1)
  })

  test('no other order is requested before the first has ended', () => {
    const changed = after(one, pays('9950'), pays('10000'))
    expect(changed.sales.map(({ units }) => units)).toEqual([9950n])
    const [sale] = changed.sales
    const ended = after({ ...changed, sales: sale === undefined ? [] : [{ ...sale, state: 'ended' }] }, sets({}))
    expect(ended.sales.map(({ number, units }) => [number, units])).toEqual([
      [1, 9950n],
      [2, 10_000n],
    ])
  })

  test('without a rate nothing is sold', () => {
    const paid = opened(attempt({ status: 'paid', held: '10000' }))
    expect([paid.sales, paid.payment.status]).toEqual([[], 'processing'])
  })

  test('a fill of exactly the money is taken with its fee, and a fill of other money is kept for the platform', () => {
    expect(sold.payment).toMatchObject({ takenSale: 1, usdc: { gross: `${GROSS}`, fee: '4950000', net: '105050000' } })
    const late = after(one, pays('9950'), pays('10000'), fills())
    expect(late.sales.map(({ state }) => state)).toEqual(['filled', 'asked'])
    expect(after(late, fills()).payment.takenSale).toBe(2)
  })

  test('a sale is taken with the fee that its payment was created with', () => {
    const payable = after(one, sets({ feePercent: '3.25' }), pays(), fills())
    expect(payable.payment.usdc).toEqual({ gross: `${GROSS}`, fee: '3575000', net: '106425000' })
  })

  test('USDC is its own sale, without rounding', () => {
    const paid = after(opened(usdcAttempt()), brings('paid', '50000001', '60000001'))
    expect(paid.sales).toMatchObject([{ units: 110_000_002n, fill: 110_000_002n, state: 'filled' }])
    expect(paid.payment.takenSale).toBe(1)
    expect(findOpenSale(paid)).toBeNull()
  })
})

test('a change books the difference of its positions under the version that it makes', () => {
  const paid = after(one, pays(), sets({ version: 7 }))
  expect(createBooking(one, paid, 'payment.processing')).toEqual({
    kind: 'payment.processing',
    reference: 'pay_1:7',
    paymentId: 'pay_1',
    lines: [
      { account: 'merchant_payable', asset: 'EUR', amount: '-10000' },
      { account: 'partner_receivable', asset: 'EUR', amount: '10000' },
    ],
  })
  expect(createBooking(paid, paid, 'payment.changed')).toBeNull()
})
