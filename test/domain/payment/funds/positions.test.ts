import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import { type Funds, getShortage, type Sale } from '../../../../src/domain/payment/funds/funds.ts'
import { computePositions, listLinesBetween } from '../../../../src/domain/payment/funds/positions.ts'
import { newAccount, newFunds } from './story.ts'

const books = (funds: Funds): string[] =>
  [...computePositions(funds)].map(([key, units]) => `${key} ${units}`).toSorted()

const paid = (fields: Partial<Account> = {}): Account =>
  newAccount('a', 'EUR', { report: 'paid', held: 10_000n, ...fields })
const sale: Sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 990n, state: 'filled' }
const taken = { ...sale, fee: 45n, reserve: 0n, deducted: 0n }
const SOLD = ['conversion EUR -10000', 'conversion USDC 990', 'exchange USDC 10', 'fee_revenue USDC -45']
const RECEIVED = 'partner_receivable EUR 10000'

test('the partner owes the payment’s money, and the platform owes it to the merchant', () => {
  expect(books(newFunds({ accounts: [paid()] }))).toEqual(['merchant_payable EUR -10000', RECEIVED])
})

test('money of another account than the payment’s is owed to the buyer', () => {
  const other = newAccount('b', 'INR', { report: 'paid', held: 500n })
  expect(books(newFunds({ accounts: [paid(), other] }))).toEqual([
    'merchant_payable EUR -10000',
    RECEIVED,
    'partner_receivable INR 500',
    'suspense INR -500',
  ])
})

test('a sale that the payment takes is owed to the merchant in USDC, without the fee', () => {
  const funds = newFunds({ accounts: [paid()], sales: [sale], taken })
  expect(books(funds)).toEqual([...SOLD, 'merchant_payable USDC -955', RECEIVED])
  expect(books({ ...funds, payout: 'paid', paidOut: 955n })).toEqual([...SOLD, RECEIVED, 'treasury USDC -955'])
})

test('a sale that the payment has not taken belongs to the platform', () => {
  const funds = newFunds({ accounts: [paid()], sales: [sale] })
  expect(books(funds)).toEqual([
    'conversion EUR -10000',
    'conversion USDC 990',
    'exchange EUR 10000',
    'exchange USDC -990',
    'merchant_payable EUR -10000',
    RECEIVED,
  ])
})

test('a sale that the converter has not filled is not in the books', () => {
  const asked = { ...sale, fill: null, state: 'asked' } as const
  expect(books(newFunds({ accounts: [paid()], sales: [asked] }))).toEqual(['merchant_payable EUR -10000', RECEIVED])
})

test('a second sale, of another account than the one that was taken, belongs to the platform', () => {
  const other = newAccount('b', 'INR', { report: 'over', held: 0n })
  const second: Sale = { ...sale, number: 2, accountId: 'b', units: 500n, fill: 6n }
  expect(books(newFunds({ accounts: [paid(), other], sales: [sale, second], taken }))).toEqual([
    'conversion EUR -10000',
    'conversion INR -500',
    'conversion USDC 996',
    'exchange INR 500',
    'exchange USDC 4',
    'fee_revenue USDC -45',
    'merchant_payable USDC -955',
    RECEIVED,
  ])
})

test('a sale stays in the books when its payout is void and the money goes back', () => {
  const accounts = [paid({ held: 0n, report: 'over' })]
  expect(books(newFunds({ accounts, sales: [sale], taken, payout: 'void' }))).toEqual([
    'conversion EUR -10000',
    'conversion USDC 990',
    'exchange EUR 10000',
    'exchange USDC -990',
  ])
})

test('money that the partner reverses after the sale is a loss until it has it again', () => {
  const funds = newFunds({ accounts: [paid({ held: 4000n })], sales: [sale], taken, payout: 'paid', paidOut: 955n })
  expect(books(funds)).toEqual([
    'chargeback_loss EUR 6000',
    ...SOLD,
    'partner_receivable EUR 4000',
    'treasury USDC -955',
  ])
  const again = { ...funds, accounts: [paid()] }
  expect(listLinesBetween(computePositions(funds), computePositions(again))).toEqual([
    { account: 'chargeback_loss', asset: 'EUR', amount: '-6000' },
    { account: 'partner_receivable', asset: 'EUR', amount: '6000' },
  ])
})

describe('A refund after the payout', () => {
  const settled = (fields: Partial<Account>): Funds =>
    newFunds({ accounts: [paid(fields)], sales: [sale], taken, payout: 'paid', paidOut: 955n })
  const REST = ['treasury USDC -955']

  test.each<[string, Partial<Account>, string[]]>([
    ['books nothing while its partner has the money', { refunding: 6000n }, [...SOLD, RECEIVED, ...REST]],
    [
      'is paid by the platform when its partner has given the money back',
      { held: 4000n, refunding: 6000n },
      [...SOLD, 'exchange EUR 6000', 'partner_receivable EUR 4000', ...REST],
    ],
    [
      'books the same when it has succeeded',
      { held: 4000n, refunded: 6000n },
      [...SOLD, 'exchange EUR 6000', 'partner_receivable EUR 4000', ...REST],
    ],
    [
      'leaves a chargeback beyond it as a loss',
      { held: 1000n, refunded: 6000n },
      [...SOLD, 'chargeback_loss EUR 3000', 'exchange EUR 6000', 'partner_receivable EUR 1000', ...REST],
    ],
    [
      'leaves money that arrives after it as owed to the buyer',
      { held: 4500n, refunded: 6000n },
      [...SOLD, 'exchange EUR 6000', 'partner_receivable EUR 4500', 'suspense EUR -500', ...REST],
    ],
  ])('%s', (_what, fields, expected) => {
    expect(books(settled(fields))).toEqual(expected.toSorted())
  })

  test('is no chargeback while it is not over, but leaves a chargeback that came before as a loss', () => {
    const before = settled({ held: 7000n })
    const shortages = [
      { held: 7000n, refunding: 6000n },
      { held: 1000n, refunding: 6000n },
      { held: 500n, refunding: 6000n },
      { held: 8000n, refunding: 6000n },
      { held: 1000n, refunded: 6000n },
    ].map((fields) => {
      const funds = { ...settled(fields), lost: getShortage(before, before.accounts[0] as Account) }
      return getShortage(funds, funds.accounts[0] as Account)
    })
    expect(shortages).toEqual([3000n, 3000n, 3500n, 2000n, 3000n])
  })

  test('balances whatever the partner has, and is no loss while it explains what is missing', () => {
    const units = fc.bigInt(0n, 12_000n)
    fc.assert(
      fc.property(units, units, units, (held, refunded, refunding) => {
        const funds = settled({ held, refunded, refunding })
        const account = funds.accounts[0] as Account
        const euros = [...computePositions(funds)].flatMap(([key, value]) => (key.endsWith(' EUR') ? value : []))
        expect(euros.reduce((sum, value) => sum + value, 0n)).toBe(0n)
        const isExplained = held + refunded + refunding >= 10_000n
        expect(getShortage(funds, account) === 0n).toBe(isExplained)
      }),
    )
  })
})

test('money beyond a sale is owed to the buyer', () => {
  const funds = newFunds({ accounts: [paid({ held: 12_000n })], sales: [sale], taken, payout: 'paid', paidOut: 955n })
  expect(books(funds)).toEqual([...SOLD, 'partner_receivable EUR 12000', 'suspense EUR -2000', 'treasury USDC -955'])
})

test('money that the buyer got from elsewhere belongs to the platform as long as the partner has it', () => {
  const given = paid({ outside: 10_000n })
  expect(books(newFunds({ accounts: [given] }))).toEqual(['exchange EUR -10000', RECEIVED])
  expect(books(newFunds({ accounts: [{ ...given, held: 4000n }] }))).toEqual([
    'exchange EUR -4000',
    'partner_receivable EUR 4000',
  ])
})

test('USDC of a buyer is its own sale, and leaves suspense', () => {
  const usdc = newAccount('a', 'USDC', { report: 'paid', held: 1001n })
  const own: Sale = { ...sale, units: 1001n, fill: 1001n }
  const funds = newFunds({
    accounts: [{ ...usdc, held: 1_001n }],
    sales: [own],
    taken: { ...own, fee: 45n, reserve: 0n, deducted: 0n },
  })
  expect(books(funds)).toEqual([
    'exchange USDC -1',
    'fee_revenue USDC -45',
    'merchant_payable USDC -955',
    'suspense USDC 1001',
  ])
})

test('dust that no operator decides about belongs to the platform', () => {
  const dust = newAccount('b', 'USDC', { report: 'open', held: 9n })
  expect(books(newFunds({ accounts: [dust] }))).toEqual(['exchange USDC -9', 'suspense USDC 9'])
  const more = { ...dust, held: 10_000n }
  expect(books(newFunds({ accounts: [more] }))).toEqual([])
})
