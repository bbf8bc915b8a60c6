import { type Account, freeUnits } from './account.ts'
import { type Funds, findSoldAccount, getExcess, getLoss } from './funds.ts'

/** The answers of an operator: three about the money, and the hold. Each names the version that was looked at. */
export const ANSWERS = ['settle', 'give_back', 'write_off', 'hold', 'release'] as const
export type Answer =
  | { readonly say: Exclude<(typeof ANSWERS)[number], 'give_back'> }
  /** `accountId`: whose money goes back; absent: all that may. `outside`: the buyer got it from elsewhere already. */
  | { readonly say: 'give_back'; readonly accountId?: string; readonly outside?: true }

/** The funds after the answer. An answer that changes nothing has nothing to decide about. */
export function withAnswer(funds: Funds, answer: Answer): Funds {
  switch (answer.say) {
    case 'settle':
      return settle(funds)
    case 'give_back':
      return giveBack(funds, answer)
    case 'write_off':
      return { ...funds, accounts: funds.accounts.map((account) => writtenOff(funds, account)) }
    case 'hold':
      return { ...funds, hold: true }
    case 'release':
      return { ...funds, hold: false }
  }
}

const writtenOff = (funds: Funds, account: Account): Account => ({
  ...account,
  odd: false,
  writtenOff: getLoss(funds, account),
})

const resumed = ({ payout }: Funds): Funds['payout'] => (payout === 'stopped' ? 'handed' : payout)

/** Accepts the money that is there as enough, and odd orders as they are. */
function settle(funds: Funds): Funds {
  const accounts = funds.accounts.map((account) => ({ ...account, accepted: account.accepted || account.odd }))
  return { ...funds, agreed: true, stuck: false, payout: resumed(funds), accounts }
}

function giveBack(funds: Funds, { accountId, outside }: Extract<Answer, { say: 'give_back' }>): Funds {
  const change = outside === true ? givenOutside : givenByPartner
  const accounts = funds.accounts.map((account) =>
    accountId === undefined || accountId === account.id ? change(funds, account) : account,
  )
  return { ...funds, accounts, payout: outside === true ? funds.payout : resumed(funds) }
}

/** A partner gives back whole orders only. What the merchant was paid for stays, and its excess goes by hand. */
function givenByPartner(funds: Funds, account: Account): Account {
  const isPaidOut = funds.payout === 'paid' && findSoldAccount(funds)?.id === account.id
  const mayGo = freeUnits(account) > 0n && !isPaidOut
  return mayGo && account.back === 'no' ? { ...account, back: 'wanted' } : account
}

/** From elsewhere the buyer can get the money of every other account, and after the payout the excess of the sold one. */
function givenOutside(funds: Funds, account: Account): Account {
  if (findSoldAccount(funds)?.id !== account.id) return { ...account, outside: account.outside + freeUnits(account) }
  return funds.payout === 'paid' ? { ...account, outside: account.outside + getExcess(funds, account) } : account
}
