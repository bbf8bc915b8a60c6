import { isCurrency } from '../currencies.ts'
import { formatAmount, formatUsdc } from '../money.ts'
import { type Account, freeUnits, hasOtherToken, isOdd } from './funds/account.ts'
import { listAnswers, withAnswer } from './funds/answer.ts'
import {
  type Funds,
  findFittingSale,
  findOwnAccount,
  findSoldAccount,
  getDue,
  getExcess,
  getLoss,
} from './funds/funds.ts'
import { type AskReason, isSilent, isUnknownLoss, listReasons, type StopReason, waitsAsExcess } from './funds/review.ts'
import { isClosed } from './payment.ts'
import type { Attempt, Misfit, Payment, PaymentWithAttempts, Review } from './payment-object.ts'

/** Texts about a payment that waits for an operator: facts with their amounts, the most important first. */

export type ReviewReason = StopReason | AskReason

export function listReviews(state: PaymentWithAttempts, funds: Funds): Review[] {
  const { stops, asks } = listReasons(funds)
  return [...stops, ...asks].flatMap((reason) =>
    listConcerned(funds, reason).map((account) => ({
      reason,
      attemptId: account?.id ?? null,
      text: TEXTS[reason]({ state, funds, account }),
    })),
  )
}

/** Returns the accounts that the reason is about; null means the whole payment. */
function listConcerned(funds: Funds, reason: ReviewReason): readonly (Account | null)[] {
  switch (reason) {
    case 'odd_order':
      return funds.accounts.filter(isOdd)
    case 'sale_stuck':
      return funds.accounts.filter(({ id }) => id === funds.stuck)
    case 'other_token':
      return funds.accounts.filter(hasOtherToken)
    case 'withheld':
      return funds.accounts.filter(({ report }) => report === 'withheld')
    case 'silent':
      return funds.accounts.filter(isSilent)
    case 'excess':
      return funds.accounts.filter((account) => waitsAsExcess(funds, account))
    case 'loss':
      return funds.accounts.filter((account) => isUnknownLoss(funds, account))
    case 'payout_stopped':
    case 'unexpected_payout':
    case 'held':
      return [null]
    default:
      return [findOwnAccount(funds)]
  }
}

type Facts = { readonly state: PaymentWithAttempts; readonly funds: Funds; readonly account: Account | null }

const TEXTS: Readonly<Record<ReviewReason, (facts: Facts) => string>> = {
  too_little: ({ account }) =>
    `${holds(account)}, of ${asked(account)} that was asked for. \`settle\` settles what is there.`,
  after_failure: ({ account }) => `${holds(account)}. It arrived after the payment had failed.`,
  sale_stuck: ({ funds, account }) => `${describeStuck(funds, account)} \`settle\` tries again.`,
  far_fill: ({ funds }) => describeFill(funds),
  payout_stopped: ({ state: { payment } }) =>
    `The settlement has stopped the payout${payment.stoppedFor === null ? '' : `: ${payment.stoppedFor}`}. \`settle\` tries it again.`,
  odd_order: ({ state, funds, account }) =>
    `${describeOdd(account, state.attempts)}${describeSettling(funds, account)}`,
  other_token: ({ state, account }) =>
    `Another token than USDC is at the address of the payment${nameToken(account, state.attempts)}. It does not count. Send it back by hand, and record that with \`write_off\`.`,
  withheld: ({ account }) =>
    `The partner withholds ${free(account)} while it checks the payment. Wait: there is nothing to do until the partner releases the money.`,
  silent: ({ account }) =>
    `The partner has been confirming ${free(account)} for too long. Ask the partner. If the money arrives, the payment continues.`,
  excess: ({ funds, account }) => (account === null ? '' : describeExcess(funds, account)),
  loss: ({ funds, account }) => describeLoss(funds, account),
  unexpected_payout: ({ funds }) =>
    `The chain has paid ${usdc(funds.paidOut)} to the merchant, and ${usdc(funds.taken === null ? 0n : getDue(funds.taken))} was to be paid.`,
  held: () => 'An operator holds the payment. Nothing is sold or paid out until it is released.',
}

const usdc = (micro: bigint): string => `${formatUsdc(micro.toString())} USDC`

function units({ asset }: Account, amount: bigint): string {
  const minor = amount.toString()
  return isCurrency(asset) ? `${formatAmount({ minor, currency: asset })} ${asset}` : usdc(amount)
}

const free = (account: Account | null): string =>
  account === null || freeUnits(account) === 0n ? 'the money' : units(account, freeUnits(account))
const asked = (account: Account | null): string => (account === null ? 'the price' : units(account, account.asked))
const holds = (account: Account | null): string =>
  account?.asset === 'USDC' ? `${free(account)} arrived` : `The partner has ${free(account)}`

function describeFill(funds: Funds): string {
  const sale = findFittingSale(funds)
  const figures =
    sale?.fill == null ? '' : `: ${usdc(sale.fill)} were bought, where the locked rate gives ${usdc(sale.gross)}`
  return `The converter’s fill is too far from the locked rate${figures}. \`settle\` pays the merchant by the locked rate, and the platform bears the difference.`
}

/** A sale that is still open was not answered. A sale that was refused has ended. */
function describeStuck({ sales, stuck }: Funds, account: Account | null): string {
  const isOpen = sales.some(({ state, accountId }) => state === 'asked' && accountId === stuck)
  return isOpen
    ? `The converter has not answered for half an hour whether it has sold ${free(account)}.`
    : `The converter has refused to sell ${free(account)}.`
}

const findMisfit = (account: Account | null, attempts: readonly Attempt[]): Misfit | null =>
  attempts.find(({ id }) => id === account?.id)?.misfit ?? null

function nameToken(account: Account | null, attempts: readonly Attempt[]): string {
  const received = findMisfit(account, attempts)?.received ?? null
  return received === null ? '' : `: ${received.minor} units of ${received.currency}`
}

function describeOdd(account: Account | null, attempts: readonly Attempt[]): string {
  const misfit = findMisfit(account, attempts)
  if (misfit === null) return 'The partner’s report does not match the order.'
  const { amount, received } = misfit
  const sums = `the partner names ${named(amount)} asked for and ${received === null ? 'nothing' : named(received)} received, where ${asked(account)} was asked for`
  return `${MISFIT_TEXTS[misfit.why]}: ${sums}.`
}

/** Empty: the operator's `settle` sells nothing of the account, or is not possible. */
function describeSettling(funds: Funds, account: Account | null): string {
  const isPossible = funds.taken === null && listAnswers(funds).some(({ say }) => say === 'settle')
  const own = isPossible ? findOwnAccount(withAnswer(funds, { say: 'settle' })) : null
  return own === null || own.id !== account?.id ? '' : ` \`settle\` sells the ${free(own)} that the partner has.`
}

function named({ minor, currency }: { readonly minor: string; readonly currency: string }): string {
  return isCurrency(currency) ? `${formatAmount({ minor, currency })} ${currency}` : `${minor} ${currency}`
}

const MISFIT_TEXTS = {
  order: 'The partner has answered for another order',
  account: 'The order is of another account at the partner',
  currency: 'The order is in another currency',
  no_amount: 'The partner says that the order is paid, and not how much',
  amount: 'The order is of another amount',
  refused: 'The partner has refused the order, and has money of it',
  token: 'Another token arrived',
} as const

function describeExcess(funds: Funds, account: Account): string {
  const amount = units(account, getExcess(funds, account))
  return funds.payout === 'void'
    ? `${amount} are there, and nothing is paid out any more: the buyer must get them back.`
    : `${amount} more than the payment needs: the buyer must get it back.`
}

function describeLoss(funds: Funds, account: Account | null): string {
  if (account === null) return 'Money is lost.'
  const lost = units(account, getLoss(funds, account))
  return findSoldAccount(funds)?.id === account.id
    ? `The platform has lost ${lost}: the partner took it back after the merchant was paid.`
    : `The platform has lost ${lost}: the partner took it back, and the buyer had got it from elsewhere.`
}

/** Texts for merchants: whether to ship, and who owns the money. They never show more than the payment's page does. */
const MERCHANT_TEXTS: Readonly<Record<string, string>> = {
  too_little: 'The buyer paid too little. Do not ship yet.',
  after_failure: 'Money arrived after the payment had failed. Do not ship yet.',
  sale_stuck: 'The conversion to USDC has not succeeded. The money is safe. Do not ship yet.',
  far_fill: 'The conversion is being reviewed. The money is safe. Do not ship yet.',
  payout_stopped: 'The payout is stopped. The money is safe. Do not ship yet.',
  odd_order: 'The partner’s report does not match the payment. Do not ship yet.',
  other_token: 'The buyer sent a token other than USDC, which does not count as payment.',
  withheld: 'The partner withholds the money while it checks the payment. Do not ship yet.',
  silent: 'The partner has been confirming the payment for too long. Do not ship yet.',
  excess: 'More money arrived than the payment needs. That money is not yours: We return it to the buyer.',
  loss: 'The partner reversed the money after you were paid. You keep what you received.',
  unexpected_payout: 'USDC for this payment reached your wallet, although we did not expect it. You keep it.',
  held: 'We hold the payment. Do not ship yet.',
  voiding: 'The money went back, and the payout is being voided. Ship only if the payment still succeeds.',
  confirming: 'The partner is confirming the money again. Do not ship yet.',
  giving_back: 'The money is going back to the buyer. Do not ship.',
}

/** Returns the text for the reason of a review, or for `status_reason`. Null: there is none. */
export function merchantText(
  { status, payout }: Pick<Payment, 'status' | 'payout'>,
  reason: string | null,
): string | null {
  if (payout === 'void' && !isClosed(status))
    return 'The payout was voided. You receive nothing for this payment. Do not ship.'
  return MERCHANT_TEXTS[reason ?? ''] ?? null
}
