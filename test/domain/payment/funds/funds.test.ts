import { describe, expect, test } from '@jest/globals'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import {
  type Funds,
  findFittingSale,
  findOwnAccount,
  getSeized,
  nameMoney,
  namePayout,
  type Sale,
  withPaidOut,
} from '../../../../src/domain/payment/funds/funds.ts'
import { newAccount, newFunds } from './story.ts'

const paid = (id: string, fields: Partial<Account> = {}): Account =>
  newAccount(id, 'EUR', { report: 'paid', held: 10_000n, ...fields })
const filled: Sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 990n, state: 'filled' }
const asked: Sale = { ...filled, accountId: 'b', fill: null, state: 'asked' }
const ended: Sale = { ...asked, state: 'ended' }
const taken = { ...filled, fee: 45n, reserve: 95n, deducted: 0n }

describe('The account whose money is the payment’s', () => {
  test.each<[string, Partial<Funds>, string | undefined]>([
    ['the first one that has the price', {}, 'a'],
    ['the one that is being sold', { sales: [{ ...ended, accountId: 'a' }, asked] }, 'b'],
    ['the first one, if the sale of the other one has ended', { sales: [ended] }, 'a'],
    ['the first one, if less of the other one is being sold', { sales: [{ ...asked, units: 9_900n }] }, 'a'],
    ['the first one, if the sale of the other one hangs', { sales: [asked], stuck: 'b' }, 'a'],
    ['no account after a void', { payout: 'void' }, undefined],
  ])('two accounts have the price, and the payment’s money is that of %s', (_which, fields, id) => {
    expect(findOwnAccount(newFunds({ accounts: [paid('a'), paid('b')], ...fields }))?.id).toBe(id)
  })

  test('the payment’s money is named by its account and its units, and a payout by its sum', () => {
    expect([nameMoney(paid('a', { outside: 1n })), namePayout(955n)]).toStrictEqual(['a:9999', 'payout:955'])
  })
})

test('a sale fits the payment’s money until it is taken', () => {
  const funds = newFunds({ accounts: [paid('a')], sales: [filled] })
  expect([findFittingSale(funds), findFittingSale({ ...funds, taken })]).toStrictEqual([filled, null])
})

test('a chargeback takes nothing before the payout, and nothing of a payment that has sold nothing', () => {
  const lost = newFunds({ accounts: [paid('a', { held: 4_000n })], sales: [filled], taken })
  const seized = [
    getSeized({ ...lost, payout: 'handed' }),
    getSeized({ ...lost, payout: 'paid' }),
    getSeized({ ...lost, payout: 'paid', taken: null }),
  ]
  expect(seized).toStrictEqual([0n, 95n, 0n])
})

describe('A payout that is proved on chain', () => {
  const backs = (funds: Partial<Funds>): string => {
    const accounts = [paid('a', { back: 'wanted' }), paid('b', { back: 'wanted' }), paid('c', { back: 'asked' })]
    return withPaidOut(newFunds({ accounts, ...funds }), 955n)
      .accounts.map(({ back }) => back)
      .join(' ')
  }

  test('the money that it paid for is not given back, unless the partner was asked already', () => {
    expect(backs({ sales: [filled], taken })).toBe('no wanted asked')
    expect(backs({ taken: { ...taken, accountId: 'c' } })).toBe('wanted wanted asked')
  })

  test('no money is given back if the payment does not know which money it paid for', () => {
    expect(backs({})).toBe('no no asked')
  })
})
