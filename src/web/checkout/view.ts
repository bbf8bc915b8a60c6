import { isZero, type MicroUsdc, subtract } from '../../domain/money.ts'
import type { Offer, Refusal } from '../../domain/offers.ts'
import { canStillBePaid, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { isOpened, MAX_ATTEMPTS, type OpenedAttempt, planOpening } from '../../domain/payment/requests.ts'
import { readTransferLink, type TransferRequest } from '../../domain/settlement/deposit.ts'
import { getAmounts } from './amounts.ts'
import { type Checkout, type Choice, findOffer, findOpenedAttempt, findPaidAttempt, isSameWay } from './checkout.ts'

export type View =
  | { readonly page: 'country' }
  | {
      readonly page: 'pick'
      readonly why: 'pin_refused' | 'choice_refused' | null
      /** The attempt that the buyer left unpaid; null without one. */
      readonly unpaid: Attempt | null
    }
  | { readonly page: 'confirm'; readonly offer: Offer; readonly unpaid: Attempt | null }
  | {
      readonly page: 'declined'
      readonly attempt: Attempt
      readonly again: Offer | null
      readonly instead: Offer | null
    }
  /** The partners of all possible offers are down. */
  | { readonly page: 'down'; readonly refusal: Refusal }
  | { readonly page: 'not_offered'; readonly refusal: Refusal | null }
  /** The payment cannot have another attempt. `resumable` is the attempt that the buyer can still continue. */
  | { readonly page: 'no_more_tries'; readonly resumable: Attempt | null }
  | { readonly page: 'open_elsewhere'; readonly attempt: OpenedAttempt; readonly instead: Offer }
  | { readonly page: 'upi'; readonly attempt: OpenedAttempt; readonly intentUri: string }
  | {
      readonly page: 'usdc'
      readonly attempt: OpenedAttempt
      /** The transfer of the missing amount. */
      readonly transfer: TransferRequest
      readonly received: MicroUsdc | null
    }
  | { readonly page: 'finish'; readonly attempt: OpenedAttempt }
  | { readonly page: 'returning'; readonly attempt: OpenedAttempt; readonly since: string; readonly slow: boolean }
  | { readonly page: 'verification'; readonly attempt: OpenedAttempt }
  | {
      readonly page: 'progress'
      readonly now: 'confirming' | 'converting' | 'sending'
      readonly delayed: boolean
    }
  | { readonly page: 'checking' }
  | { readonly page: 'done' }
  | { readonly page: 'closed'; readonly as: 'expired' | 'canceled' | 'failed' | 'refunded' }

const VIEWS: Readonly<Record<PaymentStatus, (checkout: Checkout) => View>> = {
  created: choose,
  pending: payOrChoose,
  processing: progress,
  settling: progress,
  under_review: () => ({ page: 'checking' }),
  succeeded: () => ({ page: 'done' }),
  expired: () => ({ page: 'closed', as: 'expired' }),
  canceled: () => ({ page: 'closed', as: 'canceled' }),
  failed: () => ({ page: 'closed', as: 'failed' }),
  refunded: () => ({ page: 'closed', as: 'refunded' }),
}

export function getView(checkout: Checkout): View {
  const paid = findPaidAttempt(checkout)
  if (paid !== null) return isOpened(paid) ? pay(checkout, paid) : { page: 'checking' }
  return VIEWS[checkout.payment.status](checkout)
}

function payOrChoose(checkout: Checkout): View {
  const attempt = findOpenedAttempt(checkout.attempts)
  const { step, choice } = checkout.asked
  if (attempt === null || step !== null) return choose(checkout)
  if (choice === null || isSameWay(attempt, choice)) return pay(checkout, attempt)
  const instead = findOffer(checkout.offered, choice)
  const view = choose(checkout)
  // The buyer must first read that an order is open before the API opens another one.
  return instead === null || view.page !== 'confirm' ? view : { page: 'open_elsewhere', attempt, instead }
}

/** Milliseconds after the buyer's return during which the page waits for the partner and shows no button. */
const CHECKING_MS = 10_000
/** After this time the page no longer says that it is checking: the order is still open. In milliseconds. */
const CHECKED_MS = 600_000

function pay(checkout: Checkout, attempt: OpenedAttempt): View {
  const { cameBackAt, now, received, url } = checkout
  const transfer = attempt.provider === 'crypto' ? readTransferLink(attempt.intentUri ?? '') : null
  if (transfer !== null) {
    const micro = received === null ? transfer.micro : subtract(transfer.micro, received)
    // The whole amount is at the address, but the payment has not recorded it yet: the page asks for no more.
    if (isZero(micro) || micro.startsWith('-')) return { page: 'progress', now: 'confirming', delayed: false }
    return { page: 'usdc', attempt, transfer: { ...transfer, micro }, received }
  }
  const waited = cameBackAt === null ? Number.NaN : Date.parse(now) - Date.parse(cameBackAt)
  if (cameBackAt !== null && waited < CHECKED_MS)
    return { page: 'returning', attempt, since: cameBackAt, slow: waited >= CHECKING_MS }
  if (attempt.status === 'verification_required') return { page: 'verification', attempt }
  // A code asks for the whole price again.
  if (attempt.intentUri !== null && findPaidAttempt(checkout) === null)
    return { page: 'upi', attempt, intentUri: attempt.intentUri }
  // Without a page of the partner, the rest of the price can arrive only with the order that the buyer has.
  return attempt.redirectUrl === url ? { page: 'checking' } : { page: 'finish', attempt }
}

function choose(checkout: Checkout): View {
  const { offered, asked, attempts } = checkout
  if (asked.step === 'country') return { page: 'country' }
  if (offered.offers.length === 0) {
    const down = findDownRefusal(offered)
    return down === null ? { page: 'not_offered', refusal: offered.pinnedRefused } : { page: 'down', refusal: down }
  }
  const last = attempts.at(-1)
  const unpaid = last !== undefined && wasAbandoned(last) ? last : null
  const chosen = findChosenOffer(checkout, unpaid)
  const over = findNoMoreTries(checkout, chosen)
  if (over !== null) return over
  const isAsked = asked.step !== null || asked.choice !== null
  if (!isAsked && last?.status === 'declined' && unpaid === null) return declined(checkout, last)
  if (asked.step === 'pick' || chosen === null) return { page: 'pick', why: findPickReason(checkout), unpaid }
  return { page: 'confirm', offer: chosen, unpaid }
}

/** Returns the refusal of the pinned provider, else of any provider, if its partner is down. */
function findDownRefusal({ pinnedRefused, refused }: Checkout['offered']): Refusal | null {
  if (pinnedRefused?.reason === 'down') return pinnedRefused
  return refused.find(({ reason }) => reason === 'down') ?? null
}

/**
 * Returns the offer that the buyer asked for, else the one that the buyer left, else the pinned one. If the same
 * partner does not offer the method, another partner's offer of the method is used.
 */
function findChosenOffer({ offered, asked }: Checkout, unpaid: Attempt | null): Offer | null {
  const choice: Choice | null = asked.choice ?? unpaid
  if (choice === null) return offered.pinned
  const found = findOffer(offered, choice) ?? offered.offers.find(({ method }) => method === choice.method)
  return found ?? (asked.choice === null ? offered.pinned : null)
}

/** True if the buyer left the partner's page without paying, and the partner reports that the order is over. */
function wasAbandoned({ status, failureCode }: Attempt): boolean {
  return status === 'canceled' || status === 'expired' || (status === 'declined' && failureCode === 'abandoned')
}

function declined({ offered }: Checkout, attempt: Attempt): View {
  const again = findOffer(offered, attempt)
  const instead = offered.offers.find((offer) => !isSameWay(offer, attempt)) ?? null
  return { page: 'declined', attempt, again, instead }
}

/** Null while an order can be opened for the chosen offer, or for any offer if none is chosen. */
function findNoMoreTries({ attempts }: Checkout, chosen: Offer | null): View | null {
  const isOver = (way: Choice) => planOpening({ attempts }, way).kind === 'too_many_attempts'
  if (attempts.length < MAX_ATTEMPTS || (chosen !== null && !isOver(chosen))) return null
  return { page: 'no_more_tries', resumable: attempts.findLast((attempt) => !isOver(attempt)) ?? null }
}

function findPickReason({ offered, asked }: Checkout): 'pin_refused' | 'choice_refused' | null {
  if (asked.choice !== null) return 'choice_refused'
  return offered.pinnedRefused === null ? null : 'pin_refused'
}

function progress({ payment }: Checkout): View {
  const delayed = payment.delayedAt !== null
  if (payment.status === 'settling') return { page: 'progress', now: 'sending', delayed }
  return { page: 'progress', now: payment.paidAt === null ? 'confirming' : 'converting', delayed }
}

/** True if money has arrived that does not go to the merchant. A payment that ended without a payout can have some. */
export function hasSurplus(checkout: Checkout): boolean {
  return getAmounts(checkout).surplus.length > 0
}

export function wasReturned({ attempts }: Pick<Checkout, 'attempts'>): boolean {
  return attempts.some(({ returned }) => returned)
}

/** True if money can still arrive through an attempt of a payment that is over. */
export function canMoneyArrive({ attempts }: Pick<Checkout, 'attempts'>): boolean {
  return attempts.some(({ status }) => canStillBePaid(status))
}

/**
 * True if money that arrives now goes to the merchant automatically. After a failure, or when the platform no longer
 * reads the orders, an operator decides.
 */
export function isLateMoneyCounted({ payment }: Pick<Checkout, 'payment'>): boolean {
  return payment.status !== 'failed' && !payment.listenEnded
}

/** Returns the path on which the buyer continues an attempt. An attempt that is not opened yet is requested again. */
export function getContinuePath(path: string, attempt: Attempt): string {
  return isOpened(attempt) ? path : `${path}?method=${attempt.provider}.${attempt.method}`
}
