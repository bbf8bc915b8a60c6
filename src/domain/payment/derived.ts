import {
  type Account,
  freeUnits,
  hasOtherToken,
  isEnough,
  isOdd,
  isOwedToBuyer,
  mayReturnTwice,
} from './funds/account.ts'
import { type Funds, findOwnAccount, findSoldAccount, getExcess, getHeldBack, getShortage } from './funds/funds.ts'
import { findMoneyStep, isWaiting } from './funds/money-step.ts'
import { isSilent, listReasons } from './funds/review.ts'
import { toFunds, toMoney } from './funds/stored-funds.ts'
import { isClosed, isOpen, type PaymentException, type PaymentStatus } from './payment.ts'
import type { Attempt, Derived, Payment, PaymentWithAttempts } from './payment-object.ts'
import { listReviews } from './reviews.ts'

/** Computes the stored fields that lists, indexes and pages read. It is called at the end of each change. */
export function derive(state: PaymentWithAttempts, at: string): PaymentWithAttempts {
  const funds = toFunds(state)
  const reviews = listReviews(state, funds)
  const money = findMoney(state, funds)
  const status = computeStatus(state, funds)
  // Money that has left is not late, and the next step has its own clock.
  const delayedAt = money.paidAt === null ? null : state.payment.delayedAt
  const payment: Payment = { ...state.payment, ...money, status, delayedAt }
  const derived = {
    reservedMicro: getHeldBack(funds).toString(),
    statusReason: isClosed(status) ? null : (reviews[0]?.reason ?? whyReviewed(status, funds)),
    exception: computeException({ ...state, payment }, funds),
    reviews,
    reviewSince: reviews.length === 0 ? null : (state.payment.reviewSince ?? at),
    convertingSince: isConverting(funds) ? (state.payment.convertingSince ?? at) : null,
    lostMinor: countLost(state, funds),
  }
  return { ...state, payment: { ...payment, ...derived } }
}

/** After the payout only: before it, the money that is left decides. */
function countLost({ attempts }: PaymentWithAttempts, funds: Funds): string {
  const sold = funds.payout === 'paid' ? findSoldAccount(funds) : null
  const attempt = attempts.find(({ id }) => id === sold?.id)
  return sold === null || attempt === undefined ? '0' : toMoney(attempt, getShortage(funds, sold)).minor
}

const isConverting = (funds: Funds): boolean => ['sell', 'end_sale'].includes(findMoneyStep(funds).do)

function whyReviewed(status: PaymentStatus, { payout, accounts }: Funds): string | null {
  if (status !== 'under_review') return null
  if (payout === 'voiding') return 'voiding'
  return accounts.some(({ back }) => back !== 'no') ? 'giving_back' : 'confirming'
}

function computeStatus({ payment }: PaymentWithAttempts, funds: Funds): PaymentStatus {
  switch (funds.payout) {
    case 'paid':
      return 'succeeded'
    case 'stopped':
    case 'voiding':
      return 'under_review'
    case 'handed':
      return funds.hold ? 'under_review' : 'settling'
    case 'void':
      return payment.status !== 'refunded' && funds.accounts.some(isOwedToBuyer) ? 'under_review' : 'refunded'
    case 'none':
      return computeUnpaidStatus(payment, funds)
  }
}

/** A decision that is being carried out changes the status only when it is done. */
function computeUnpaidStatus({ status }: Payment, funds: Funds): PaymentStatus {
  const { accounts, closed } = funds
  if (findOwnAccount(funds) !== null) {
    const asked = accounts.map((account) =>
      account.back === 'wanted' ? { ...account, back: 'asked' as const } : account,
    )
    const isStopped = isWaiting(findMoneyStep({ ...funds, accounts: asked })) || listReasons(funds).stops.length > 0
    return isStopped ? 'under_review' : 'processing'
  }
  if (!isClosed(status) && accounts.some((account) => account.back !== 'no' && isOwedToBuyer(account)))
    return 'under_review'
  if (closed !== null) return closed
  if (accounts.some((account) => isOdd(account) || hasOtherToken(account) || isStopped(account))) return 'under_review'
  if (accounts.some(({ report }) => report === 'confirming')) return 'processing'
  return accounts.length === 0 ? 'created' : 'pending'
}

const isStopped = (account: Account): boolean => account.report === 'withheld' || isSilent(account)

/**
 * Returns the payment's money: that of the account that was sold, or that will be. Money that a decision gave back is
 * shown as it was, but not if the payment waits for its buyer again.
 */
function findMoney({ payment, attempts, sales }: PaymentWithAttempts, funds: Funds): Pick<Derived, MoneyField> {
  const sale = sales.find(({ number }) => number === payment.takenSale)
  const id = sale?.accountId ?? findOwnAccount(funds)?.id
  const attempt = attempts.find((one) => one.id === id)
  const isGoingBack = funds.accounts.some((one) => one.id === payment.paidAttemptId && one.back !== 'no')
  if (attempt === undefined && (isGoingBack || funds.payout === 'void')) return payment
  if (attempt === undefined) return NO_MONEY
  const account = funds.accounts.find((one) => one.id === id)
  const units = sale?.units ?? (account === undefined ? 0n : freeUnits(account))
  return {
    paidAttemptId: attempt.id,
    providerUsed: attempt.provider,
    methodUsed: attempt.method,
    confirmed: toMoney(attempt, units),
    rate: attempt.rate,
    // Money that was paid out keeps its time when its partner takes it back and returns it.
    paidAt: (sale === undefined ? null : payment.paidAt) ?? attempt.paidAt ?? payment.paidAt,
  }
}

type MoneyField = 'paidAttemptId' | 'providerUsed' | 'methodUsed' | 'confirmed' | 'rate' | 'paidAt'

const NO_MONEY: Pick<Derived, MoneyField> = {
  paidAttemptId: null,
  providerUsed: null,
  methodUsed: null,
  confirmed: null,
  rate: null,
  paidAt: null,
}

function computeException({ payment, attempts }: PaymentWithAttempts, funds: Funds): PaymentException | null {
  const sold = findSoldAccount(funds)
  const own = sold ?? findOwnAccount(funds)
  if (own !== null && hasExcess(funds)) return 'duplicate_payment'
  if (isLate(funds, own)) return 'paid_late'
  if (own === null ? funds.accounts.some(isPart) : !isEnough(settledPart(funds, own), funds.tolerancePercent))
    return 'underpaid'
  if (own !== null && countSettled(funds, own) > own.asked) return 'overpaid'
  if (own === null && funds.accounts.some(hasOtherToken)) return 'wrong_asset'
  if (isOpen(payment.status) && attempts.some(isChecked)) return 'verification_required'
  return payment.delayedAt !== null && !isClosed(payment.status) ? 'settlement_delayed' : null
}

const isChecked = ({ status }: Attempt): boolean => status === 'verification_required'

const hasExcess = (funds: Funds): boolean =>
  funds.accounts.some((account) => account.report === 'paid' && getExcess(funds, account) > 0n)

function isLate(funds: Funds, own: Account | null): boolean {
  if (funds.closed === null || funds.payout === 'void') return false
  return own !== null || hasExcess(funds)
}

const isPart = (account: Account): boolean => account.report === 'open' && isOwedToBuyer(account)

const settledPart = (funds: Funds, own: Account): Account => ({ ...own, held: countSettled(funds, own), outside: 0n })

const countSettled = ({ taken }: Funds, own: Account): bigint => (taken === null ? freeUnits(own) : taken.units)

/** True if another token, or an order without money, was given back without any money of the buyer. */
const hasGoneBack = ({ returned, outside, status }: Attempt): boolean =>
  returned && (outside !== '0' || status === 'refunded')

/** Nothing will be paid out of it. A payment that was closed before keeps its status. */
export function endIfGivenBack(state: PaymentWithAttempts): PaymentWithAttempts {
  const { payment, attempts } = state
  const funds = toFunds(state)
  const isRunning = payment.payout === 'none' && payment.takenSale === null && !isClosed(payment.status)
  const mayArrive = funds.accounts.some(
    (account) =>
      isOwedToBuyer(account) ||
      isOdd(account) ||
      (account.back !== 'no' && !mayReturnTwice(account)) ||
      account.report === 'confirming' ||
      isStopped(account),
  )
  const isOver = isRunning && !mayArrive && attempts.some(hasGoneBack)
  return isOver ? { ...state, payment: { ...payment, payout: 'void' } } : state
}
