import { expect, test } from '@jest/globals'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import type { Funds, Sale } from '../../../../src/domain/payment/funds/funds.ts'
import { listReasons } from '../../../../src/domain/payment/funds/review.ts'
import { newAccount, newFunds } from './story.ts'

const paid = (fields: Partial<Account> = {}): Account =>
  newAccount('a', 'EUR', { report: 'paid', held: 10_000n, ...fields })
const other = (fields: Partial<Account> = {}): Account => newAccount('b', 'EUR', fields)
const sale: Sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 990n, state: 'filled' }
const asked: Sale = { ...sale, fill: null, state: 'asked' }
const ended: Sale = { ...sale, fill: null, state: 'ended' }
const taken = { ...sale, fee: 45n, reserve: 95n, deducted: 0n }
const sold = (accounts: readonly Account[], fields: Partial<Funds> = {}): Funds =>
  newFunds({ accounts, sales: [sale], taken, ...fields })
const settled = (fields: Partial<Funds> = {}): Funds => sold([paid()], { payout: 'paid', paidOut: 860n, ...fields })

test.each<[string, Funds, string]>([
  ['a failed payment without money has none', newFunds({ closed: 'failed', accounts: [other()] }), ''],
  ['a sale that hangs has one', newFunds({ accounts: [paid()], sales: [asked], stuck: 'a' }), 'sale_stuck'],
  ['a sale that was refused has one', newFunds({ accounts: [paid()], sales: [ended], stuck: 'a' }), 'sale_stuck'],
  [
    'a sale of other money that hangs has one',
    newFunds({
      accounts: [paid(), other()],
      sales: [
        { ...ended, accountId: 'b' },
        { ...asked, accountId: 'b' },
      ],
      stuck: 'b',
    }),
    'sale_stuck',
  ],
  [
    'a sale of other money that was refused has none',
    newFunds({ accounts: [paid(), other()], sales: [{ ...ended, accountId: 'b' }, asked], stuck: 'b' }),
    '',
  ],
  [
    'an order that is silent only while it was confirming has none',
    newFunds({ accounts: [other({ silent: true }), paid({ report: 'confirming', held: 0n })] }),
    '',
  ],
  [
    'money of a void payment that is withheld has one',
    newFunds({ accounts: [paid({ report: 'withheld' }), other()], payout: 'void' }),
    'withheld',
  ],
  [
    'a void payment without money has none',
    newFunds({ accounts: [paid({ report: 'withheld', held: 0n })], payout: 'void' }),
    '',
  ],
  [
    'a closed payment whose partner withholds money has none',
    newFunds({ accounts: [paid({ report: 'withheld' })], closed: 'expired' }),
    '',
  ],
  ['sold money that is withheld has one', sold([paid({ report: 'withheld' })]), 'withheld'],
  ['sold money next to a withheld order has none', sold([paid(), other({ report: 'withheld' })]), ''],
  ['sold money that was handed over has none', sold([paid({ report: 'withheld' })], { payout: 'handed' }), ''],
  [
    'money that arrives after the payout has one, also if it is not confirmed',
    settled({ accounts: [paid(), other({ report: 'confirming', held: 500n })] }),
    'excess',
  ],
  [
    'money that arrives after the listening waits for its partner while other money is sold',
    sold([paid(), other({ report: 'confirming', held: 500n })], { listens: false }),
    '',
  ],
  ['the payout of the net amount without the reserve has none', settled(), ''],
  ['another payout has one', settled({ paidOut: 861n }), 'unexpected_payout'],
  ['another payout that an operator has settled has none', settled({ paidOut: 861n, agreed: 'payout:861' }), ''],
  ['a payout that is held has one', sold([paid()], { payout: 'handed', hold: true }), 'held'],
  ['a payout that is being voided has none', sold([paid()], { payout: 'voiding', hold: true }), ''],
])('the reasons for a review are listed: %s', (_what, funds, reasons) => {
  const { stops, asks } = listReasons(funds)
  expect([...stops, ...asks].join(' ')).toBe(reasons)
})
