import { describe, expect, test } from '@jest/globals'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import { type Answer, listAnswers, withAnswer } from '../../../../src/domain/payment/funds/answer.ts'
import { type Funds, PAYMENT_PAYOUTS, type Sale } from '../../../../src/domain/payment/funds/funds.ts'
import { newAccount, newFunds } from './story.ts'

const paid = (fields: Partial<Account> = {}): Account =>
  newAccount('a', 'EUR', { report: 'paid', held: 10_000n, ...fields })
const other = (fields: Partial<Account> = {}): Account => newAccount('b', 'EUR', fields)
const sale: Sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 990n, state: 'filled' }
const taken = { ...sale, fee: 45n, reserve: 0n, deducted: 0n }
const sold = (accounts: readonly Account[], fields: Partial<Funds> = {}): Funds =>
  newFunds({ accounts, sales: [sale], taken, ...fields })

const givesOutside = { say: 'give_back', accountId: 'a', outside: true } as const

/** The answers that are offered: a give-back with its account, and `+` if it is from elsewhere. */
const offered = (funds: Funds): string =>
  listAnswers(funds)
    .map((answer) =>
      answer.say === 'give_back' ? `${answer.accountId}${answer.outside === true ? '+' : ''}` : answer.say,
    )
    .join(' ')

describe('The answers that change something', () => {
  test.each<[string, Funds, string]>([
    ['odd money', newFunds({ accounts: [paid({ misfit: 'odd' })] }), 'settle a a+ hold'],
    ['odd money next to another order', newFunds({ accounts: [paid({ misfit: 'odd' }), other()] }), 'settle a a+ hold'],
    [
      'odd money after the listening',
      newFunds({ accounts: [paid({ misfit: 'odd' })], closed: 'expired', listens: false }),
      'a a+',
    ],
    [
      'odd money that was sold before the listening ended',
      sold([paid({ misfit: 'odd' })], { listens: false }),
      'settle a a+ hold',
    ],
    ['odd money of a void payment', newFunds({ accounts: [paid({ misfit: 'odd' })], payout: 'void' }), 'a a+'],
    ['odd money that is being voided', sold([paid({ misfit: 'odd' })], { payout: 'voiding' }), 'a a+'],
    [
      'odd money beyond what was paid',
      sold([paid(), other({ held: 500n, misfit: 'odd' })], { payout: 'paid', paidOut: 955n }),
      'b b+',
    ],
    ['money that was given back once', newFunds({ accounts: [paid({ returned: true })] }), 'a+ hold'],
    ['money of which the buyer got a part', newFunds({ accounts: [paid({ outside: 1n })] }), 'a+ hold'],
    ['money that is to go back', newFunds({ accounts: [paid({ back: 'wanted' })] }), 'hold'],
    ['money that its partner was asked for', newFunds({ accounts: [paid({ back: 'asked' })] }), 'a+ hold'],
    [
      'the excess of sold money, which goes back only by hand',
      sold([paid({ held: 12_000n })], { payout: 'handed' }),
      'a+ hold',
    ],
    [
      'money of another order after the payout',
      sold([paid(), other({ report: 'paid', held: 500n })], { payout: 'paid', paidOut: 955n }),
      'b b+',
    ],
    [
      'sold money that has gone while its partner withholds the order',
      sold([paid({ report: 'withheld', held: 0n })], { closed: 'expired' }),
      'hold',
    ],
  ])('the answers are listed: %s', (_what, funds, answers) => {
    expect(offered(funds)).toBe(answers)
  })
})

describe('The effect of an answer', () => {
  test.each<[Answer['say'], Funds['payout'], Funds['payout']]>([
    ['hold', 'handed', 'handed'],
    ['release', 'none', 'none'],
    ['release', 'handed', 'none'],
    ['release', 'stopped', 'stopped'],
    ['settle', 'none', 'none'],
    ['settle', 'handed', 'handed'],
    ['settle', 'stopped', 'none'],
  ])('the answer %s changes a payout that is %s to %s', (say, before, payout) => {
    const funds = sold([paid()], { payout: before, hold: say === 'release', agreed: 'a:10000' })
    const answer = { say } as Answer
    expect(withAnswer(funds, answer)).toStrictEqual({ ...funds, payout, hold: say === 'hold' })
  })

  test('the excess of sold money that the buyer got from elsewhere leaves the sold money sold', () => {
    const funds = sold([paid({ held: 12_000n })], { payout: 'handed' })
    const accounts = [paid({ held: 12_000n, outside: 2000n })]
    expect(withAnswer(funds, givesOutside)).toStrictEqual({ ...funds, accounts })
  })

  test('an odd order without money needs nothing from its partner any more once it was given back', () => {
    const account = paid({ held: 0n, misfit: 'odd', back: 'asked' })
    const { accounts } = withAnswer(newFunds({ accounts: [account] }), givesOutside)
    expect(accounts).toStrictEqual([{ ...account, misfit: 'none', back: 'no', returned: true }])
  })

  test('a partner that was asked for money can still give it back after the buyer got it from elsewhere', () => {
    const account = paid({ back: 'asked' })
    const { accounts } = withAnswer(newFunds({ accounts: [account] }), givesOutside)
    expect(accounts).toStrictEqual([{ ...account, outside: 10_000n, returned: true }])
  })

  test('a write-off accepts the payout as it is, but no other payout state', () => {
    const lost = sold([paid({ held: 4000n })], { paidOut: 955n, agreed: 'a:10000' })
    const agreed = (payout: Funds['payout']) => withAnswer({ ...lost, payout }, { say: 'write_off' }).agreed
    expect(PAYMENT_PAYOUTS.map(agreed)).toStrictEqual(
      PAYMENT_PAYOUTS.map((payout) => (payout === 'paid' ? 'payout:955' : 'a:10000')),
    )
  })

  test('a write-off ends only a payment that waits for nothing else than a partner that withholds the money', () => {
    const withheld = newAccount('a', 'EUR', { report: 'withheld' })
    const usdc = newAccount('b', 'USDC', { misfit: 'other_token' })
    const after = (...accounts: Account[]) => withAnswer(newFunds({ accounts }), { say: 'write_off' })
    expect(after(withheld)).toMatchObject({ closed: 'failed', accounts: [withheld] })
    expect(after(withheld, usdc)).toMatchObject({ closed: null, accounts: [withheld, { ...usdc, misfit: 'none' }] })
  })
})
