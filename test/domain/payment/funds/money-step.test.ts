import { expect, test } from '@jest/globals'
import type { Account } from '../../../../src/domain/payment/funds/account.ts'
import type { Funds, Sale } from '../../../../src/domain/payment/funds/funds.ts'
import { findMoneyStep, isWaiting, type MoneyStep } from '../../../../src/domain/payment/funds/money-step.ts'
import { newAccount, newFunds } from './story.ts'

const paid = (fields: Partial<Account> = {}): Account =>
  newAccount('a', 'EUR', { report: 'paid', held: 10_000n, ...fields })
const sale: Sale = { number: 1, accountId: 'a', units: 10_000n, gross: 1000n, fill: 990n, state: 'filled' }
const asked: Sale = { ...sale, fill: null, state: 'asked' }
const taken = { ...sale, fee: 45n, reserve: 0n, deducted: 0n }
const sold = (account: Account): Funds => newFunds({ accounts: [account], sales: [sale], taken })

test.each<[string, Funds, MoneyStep]>([
  [
    'the payout whose money is to go back is voided',
    { ...sold(paid({ back: 'asked' })), payout: 'handed' },
    { do: 'void' },
  ],
  [
    'sold money that its partner withholds again waits for it',
    sold(paid({ report: 'withheld' })),
    { do: 'await_partner' },
  ],
  ['sold money of an odd order waits for an operator', sold(paid({ misfit: 'odd' })), { do: 'review' }],
  ['sold money is handed over', sold(paid()), { do: 'hand_over' }],
  [
    'a sale of less than the account has is ended',
    newFunds({ accounts: [paid()], sales: [{ ...asked, units: 9900n }] }),
    { do: 'end_sale', number: 1 },
  ],
  [
    'a sale of all money is continued',
    newFunds({ accounts: [paid()], sales: [asked] }),
    { do: 'sell', accountId: 'a', units: 10_000n },
  ],
])('%s', (_what, funds, step) => {
  expect(findMoneyStep(funds)).toStrictEqual(step)
})

test('a step that waits can be continued only by another party or an operator', () => {
  const steps: readonly MoneyStep[] = [
    ...(['review', 'await_buyer', 'await_partner', 'await_payout', 'await_release'] as const).map((step) => ({
      do: step,
    })),
    ...(['void', 'hand_over', 'done'] as const).map((step) => ({ do: step })),
    { do: 'give_back', accountId: 'a' },
    { do: 'end_sale', number: 1 },
    { do: 'take', number: 1 },
    { do: 'sell', accountId: 'a', units: 1n },
  ]
  expect(steps.filter(isWaiting)).toStrictEqual(steps.slice(0, 5))
})
