import { type Account, freeUnits, hasOtherToken, isOdd, isOnChain } from './account.ts'
import { type Funds, findOwnAccount, findSoldAccount, getExcess, getLoss, nameMoney, namePayout } from './funds.ts'
import { isSilent, listReasons } from './review.ts'

/** The answers of an operator. Each names the version that the operator looked at. */
export const ANSWERS = ['settle', 'give_back', 'write_off', 'hold', 'release'] as const
export type Say = (typeof ANSWERS)[number]
export type Answer =
  | { readonly say: Exclude<Say, 'give_back'> }
  /** `outside`: the buyer got the account's money from elsewhere already. */
  | { readonly say: 'give_back'; readonly accountId: string; readonly outside?: true }

/** An answer that changes nothing is not offered. */
export function withAnswer(funds: Funds, answer: Answer): Funds {
  switch (answer.say) {
    case 'settle':
      return settle(funds)
    case 'give_back':
      return giveBack(funds, answer)
    case 'write_off':
      return writeOff(funds)
    case 'hold':
      return { ...funds, hold: true }
    case 'release':
      return { ...funds, hold: false, payout: funds.payout === 'handed' ? 'none' : funds.payout }
  }
}

/** Lists the answers that change something, each give-back by its account. They are offered to operators. */
export function listAnswers(funds: Funds): Answer[] {
  const backs = funds.accounts.flatMap(({ id }): Answer[] => [
    { say: 'give_back', accountId: id },
    { say: 'give_back', accountId: id, outside: true },
  ])
  const all: Answer[] = [{ say: 'settle' }, ...backs, { say: 'write_off' }, { say: 'hold' }, { say: 'release' }]
  return all.filter((answer) => changesSomething(funds, answer))
}

function changesSomething(funds: Funds, answer: Answer): boolean {
  if (answer.say === 'hold') return !funds.hold && mayBeHeld(funds)
  if (answer.say === 'release') return funds.hold
  if (answer.say === 'settle') return hasQuestion(funds)
  if (answer.say === 'give_back')
    return funds.accounts.some((account) => giveBackAccount(funds, account, answer) !== account)
  return mayWriteOff(funds)
}

/** Late money of a closed payment can be held, too. */
function mayBeHeld(funds: Funds): boolean {
  const { payout, closed } = funds
  if (payout === 'none') return closed === null || findOwnAccount(funds) !== null
  return payout === 'handed' || payout === 'stopped'
}

/** True if something stops the settlement that an operator can allow. */
function hasQuestion(funds: Funds): boolean {
  const { stops, asks } = listReasons(funds)
  const isOver = ['voiding', 'void', 'paid'].includes(funds.payout) || (!funds.listens && funds.taken === null)
  return (
    !isOver &&
    (stops.length > 0 || (asks.includes('odd_order') && funds.accounts.some((account) => hasOddMoney(funds, account))))
  )
}

const hasOddMoney = ({ late }: Funds, account: Account): boolean =>
  isOdd(account) && freeUnits(account) > 0n && !late.includes(account.id)

function mayWriteOff(funds: Funds): boolean {
  const { asks } = listReasons(funds)
  const canBeWrittenOff = asks.some((reason) => WRITTEN_OFF.some((known) => known === reason))
  return canBeWrittenOff || funds.accounts.some((account) => isOddWithNothing(funds, account)) || isHopeless(funds)
}

const WRITTEN_OFF = ['other_token', 'loss', 'unexpected_payout'] as const

/** True if there is nothing to settle or to give back: no money, or only money that the merchant was paid for. */
const isOddWithNothing = (funds: Funds, account: Account): boolean =>
  isOdd(account) && getReturnable(funds, account) === 0n

/** True if no money has arrived, and an operator must decide whether to wait for the partner's report. */
function isHopeless(funds: Funds): boolean {
  const { asks } = listReasons(funds)
  const isAwaited = asks.length > 0 && asks.every((reason) => reason === 'withheld' || reason === 'silent')
  return isAwaited && funds.closed === null && funds.accounts.every(hasNoMoney)
}

/** True if no money has arrived, and none is on its way that could be settled. */
const hasNoMoney = (account: Account): boolean =>
  freeUnits(account) === 0n && (account.report !== 'confirming' || account.returned || isSilent(account))

/** Records a loss, or that there is nothing to give back. It ends a payment without money. */
function writeOff(funds: Funds): Funds {
  const accounts = funds.accounts.map(
    (account): Account => ({
      ...account,
      misfit: isOddWithNothing(funds, account) || hasOtherToken(account) ? 'none' : account.misfit,
      writtenOff: getLoss(funds, account),
    }),
  )
  const closed = isHopeless(funds) ? 'failed' : funds.closed
  return { ...funds, accounts, closed, agreed: funds.payout === 'paid' ? namePayout(funds.paidOut) : funds.agreed }
}

/**
 * Accepts the money that is there as enough, and odd orders as they are. A payout that was stopped is handed over
 * again, like one that is released: all checks before the first hand-over are made again.
 */
function settle(funds: Funds): Funds {
  const accounts = funds.accounts.map((account) =>
    isOdd(account) ? { ...account, misfit: 'accepted' as const } : account,
  )
  const payout = funds.payout === 'stopped' ? 'none' : funds.payout
  const settled = { ...funds, stuck: null, payout, accounts }
  const own = findOwnAccount(settled)
  return { ...settled, agreed: own === null ? null : nameMoney(own) }
}

type GiveBack = Extract<Answer, { say: 'give_back' }>

const giveBack = (funds: Funds, answer: GiveBack): Funds => ({
  ...funds,
  accounts: funds.accounts.map((account) => giveBackAccount(funds, account, answer)),
})

/** Returns the same object if the answer changes nothing about the account. */
function giveBackAccount(funds: Funds, account: Account, { accountId, outside }: GiveBack): Account {
  if (accountId !== account.id) return account
  return outside === true ? givenOutside(funds, account) : givenByPartner(funds, account)
}

const isPaidOut = (funds: Funds, { id }: Account): boolean =>
  funds.payout === 'paid' && findSoldAccount(funds)?.id === id

/** Units that can go to the buyer: of sold money only its excess, because the merchant was paid for the rest. */
function getReturnable(funds: Funds, account: Account): bigint {
  const excess = getExcess(funds, account)
  const isSold = findSoldAccount(funds)?.id === account.id
  return isPaidOut(funds, account) || (isSold && excess > 0n) ? excess : freeUnits(account)
}

/** A partner gives back only whole orders, once, and no money at an address. Excess of sold money goes back by hand. */
function givenByPartner(funds: Funds, account: Account): Account {
  const isWhole = account.outside === 0n && !account.returned && !isOnChain(account)
  // The platform cannot know how much the partner has of an odd order.
  const isAll = getReturnable(funds, account) === freeUnits(account) && !isPaidOut(funds, account)
  const mayLeave = (freeUnits(account) > 0n || isOdd(account)) && isWhole && isAll
  return mayLeave && account.back === 'no' ? { ...account, back: 'wanted' } : account
}

/**
 * Records that the buyer has the money from elsewhere, so the order needs no other answer. A partner that was asked
 * before is not asked again. It might still give the money back: its order is read until the listening ends, and then
 * the loss shows.
 */
function givenOutside(funds: Funds, account: Account): Account {
  const units = getReturnable(funds, account)
  if (account.back === 'wanted' || (units === 0n && !isOdd(account))) return account
  const outside = account.outside + units
  return {
    ...account,
    outside,
    // Only the excess went back: the sold money stays sold.
    returned: account.returned || units === freeUnits(account),
    back: outside === 0n ? 'no' : account.back,
    misfit: isOdd(account) ? 'none' : account.misfit,
  }
}
