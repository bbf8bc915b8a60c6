import { expect, test } from '@jest/globals'
import { type Account, freeUnits, hasOtherToken, isOdd } from '../../../../src/domain/payment/funds/account.ts'
import { findOwnAccount, nameMoney } from '../../../../src/domain/payment/funds/funds.ts'
import { MODEL, type Model, playFunds } from './story.ts'

const STORIES = 10_000

/** The number of the first story that fails; null if all end as they must. */
function firstWrong(model: Model, stories: number): { seed: number; wrong: string[] } | null {
  for (let seed = 1; seed <= stories; seed++) {
    const wrong = playFunds(seed, model)
    if (wrong.length > 0) return { seed, wrong: wrong.slice(0, 2) }
  }
  return null
}

test('random stories of the funds end as they must', () => {
  expect(firstWrong(MODEL, STORIES)).toBeNull()
})

/** Changes how the model reads each account. */
const seeing = (change: (account: Account) => Account): Partial<Model> => ({
  next: (funds) => MODEL.next({ ...funds, accounts: funds.accounts.map(change) }),
})

const PLANTED: readonly (readonly [string, Partial<Model>])[] = [
  [
    'a payout is not voided when its money has gone',
    { next: (funds) => (MODEL.next(funds).do === 'void' ? { do: 'await_payout' } : MODEL.next(funds)) },
  ],
  [
    'an open sale of other money is left open',
    {
      next: (funds) => (MODEL.next(funds).do === 'end_sale' ? MODEL.next({ ...funds, sales: [] }) : MODEL.next(funds)),
    },
  ],
  [
    'what is asked stops nobody',
    { next: (funds) => (MODEL.next(funds).do === 'review' ? { do: 'done' } : MODEL.next(funds)) },
  ],
  ['a hold does not keep the money from being handed over', { next: (funds) => MODEL.next({ ...funds, hold: false }) }],
  [
    'a sale leaves the books when its payout is void',
    {
      positions: (funds) => MODEL.positions(funds.payout === 'void' ? { ...funds, sales: [], taken: null } : funds),
    },
  ],
  [
    'a sale that is not taken is in no book',
    {
      positions: (funds) =>
        MODEL.positions({ ...funds, sales: funds.sales.filter(({ number }) => number === funds.taken?.number) }),
    },
  ],
  [
    'money that is given from elsewhere is still owed to the buyer',
    {
      answered: (funds, answer) =>
        answer.say === 'give_back' && answer.outside === true ? funds : MODEL.answered(funds, answer),
    },
  ],
  [
    'another token at the address is never seen',
    seeing((account) => (hasOtherToken(account) ? { ...account, misfit: 'none' } : account)),
  ],
  ['what was given back once is settled again', seeing((account) => ({ ...account, returned: false }))],
  ['money that is on its way back is settled', seeing((account) => ({ ...account, back: 'no' }))],
  [
    'an odd order is settled like any other',
    seeing((account) => (isOdd(account) ? { ...account, misfit: 'none' } : account)),
  ],
  [
    'withheld money counts as paid',
    seeing((account) => (account.report === 'withheld' ? { ...account, report: 'paid' } : account)),
  ],
  [
    'a give-back is asked for twice',
    {
      answered: (funds, answer) => {
        const after = MODEL.answered(funds, answer)
        const isBack = answer.say === 'give_back' && answer.outside !== true
        const again = (account: Account): Account =>
          account.returned && freeUnits(account) > 0n ? { ...account, back: 'wanted' } : account
        return isBack ? { ...after, accounts: after.accounts.map(again) } : after
      },
    },
  ],
  [
    'what an operator has settled counts for any money',
    {
      next: (funds) => {
        const own = findOwnAccount(funds)
        return MODEL.next(funds.agreed === null || own === null ? funds : { ...funds, agreed: nameMoney(own) })
      },
    },
  ],
  ['money of a partner whose time is over is settled', { next: (funds) => MODEL.next({ ...funds, late: [] }) }],
  [
    'nobody is asked about money that comes after the listening',
    { next: (funds) => (funds.listens || MODEL.next(funds).do !== 'review' ? MODEL.next(funds) : { do: 'done' }) },
  ],
  [
    'the accounts are forgotten when the payout is paid',
    { paidOut: (funds, micro) => ({ ...MODEL.paidOut(funds, micro), accounts: [] }) },
  ],
  [
    'the first money that came is settled, whatever came after it',
    {
      next: (funds) => {
        const [first] = funds.accounts.filter((account) => freeUnits(account) > 0n)
        const own = findOwnAccount(funds)
        const isOther = funds.taken === null && own !== null && first !== undefined && own.id !== first.id
        return isOther ? { do: 'done' } : MODEL.next(funds)
      },
    },
  ],
]

test.each(PLANTED)('the stories detect the planted bug: %s', (_name, bug) => {
  expect(firstWrong({ ...MODEL, ...bug }, 2000)).not.toBeNull()
})
