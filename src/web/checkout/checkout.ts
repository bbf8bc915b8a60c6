import type { MethodName, ProviderUsed } from '../../domain/methods.ts'
import type { Offer, OfferAnswer, Refusal } from '../../domain/offers.ts'
import type { FailureCode } from '../../domain/payment/partner.ts'
import { mayStillBePaid, type PaymentStatus } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import { readTransferLink, type TransferRequest } from '../../domain/settlement/deposit.ts'

/** Everything the pages of one payment are made of. */
export type Checkout = {
  readonly payment: Payment
  /** In the order in which they were made. */
  readonly attempts: readonly Attempt[]
  readonly merchantName: string
  readonly offered: OfferAnswer
  readonly country: BuyerCountry
  readonly asked: Asked
  /** The address of this checkout, for other devices. */
  readonly url: string
  /** The same for links and forms of the page: it holds under whatever host name the page was opened. */
  readonly path: string
}

/** Where the buyer pays from, and who says so. */
export type BuyerCountry = { readonly code: string | null; readonly source: 'buyer' | 'header' | 'unknown' }

/** What the buyer asked for by a link of the page. */
export type Asked = {
  readonly picker: boolean
  readonly choice: { readonly provider: ProviderUsed; readonly method: MethodName } | null
}

export type StepState = 'done' | 'current' | 'todo'

/** What the buyer sees. */
export type View =
  | {
      readonly page: 'pick'
      readonly why: 'pin_refused' | 'choice_refused' | null
      readonly declined: FailureCode | null
    }
  | { readonly page: 'confirm'; readonly offer: Offer; readonly declined: FailureCode | null }
  | { readonly page: 'not_offered'; readonly refusal: Refusal | null }
  | { readonly page: 'upi'; readonly attempt: OpenedAttempt; readonly intentUri: string }
  | { readonly page: 'usdc'; readonly attempt: OpenedAttempt; readonly transfer: TransferRequest }
  | { readonly page: 'finish'; readonly attempt: OpenedAttempt }
  | { readonly page: 'verification'; readonly attempt: OpenedAttempt }
  | {
      readonly page: 'progress'
      readonly now: 'confirming' | 'converting' | 'sending'
      /** Paid, converting, sent to merchant. */
      readonly steps: readonly [StepState, StepState, StepState]
      readonly delayed: boolean
    }
  | { readonly page: 'checking' }
  | { readonly page: 'done' }
  | { readonly page: 'closed'; readonly as: 'expired' | 'canceled' | 'failed' | 'refunded' }

export type OpenedAttempt = Attempt & { readonly redirectUrl: string }

/** One view per state: a new state does not compile until it has one. */
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

export function viewOf(checkout: Checkout): View {
  return VIEWS[checkout.payment.status](checkout)
}

/** The order that is open at a partner, when there is one that the buyer can go back to. */
export function openedAttempt(attempts: readonly Attempt[]): OpenedAttempt | null {
  return attempts.findLast(isOpened) ?? null
}

function isOpened(attempt: Attempt): attempt is OpenedAttempt {
  return mayStillBePaid(attempt.status) && attempt.redirectUrl !== null
}

function payOrChoose(checkout: Checkout): View {
  const attempt = openedAttempt(checkout.attempts)
  const { picker, choice } = checkout.asked
  if (attempt === null || picker || choice !== null) return choose(checkout)
  if (attempt.status === 'verification_required') return { page: 'verification', attempt }
  const transfer = attempt.provider === 'crypto' ? readTransferLink(attempt.intentUri ?? '') : null
  if (transfer !== null) return { page: 'usdc', attempt, transfer }
  if (attempt.intentUri !== null) return { page: 'upi', attempt, intentUri: attempt.intentUri }
  return { page: 'finish', attempt }
}

function choose({ offered, asked, attempts }: Checkout): View {
  if (offered.offers.length === 0) return { page: 'not_offered', refusal: offered.pinnedRefused }
  const { choice } = asked
  const chosen = choice === null ? offered.pinned : findOffer(offered, choice)
  const last = attempts.at(-1)
  const declined = last?.status === 'declined' ? (last.failureCode ?? 'declined') : null
  if (asked.picker || chosen === null) return { page: 'pick', why: whyPick(offered, asked), declined }
  return { page: 'confirm', offer: chosen, declined }
}

function whyPick(offered: OfferAnswer, asked: Asked): 'pin_refused' | 'choice_refused' | null {
  if (asked.choice !== null) return 'choice_refused'
  return offered.pinnedRefused === null ? null : 'pin_refused'
}

export function findOffer(offered: OfferAnswer, choice: { provider: ProviderUsed; method: MethodName }): Offer | null {
  return offered.offers.find((offer) => offer.provider === choice.provider && offer.method === choice.method) ?? null
}

function progress({ payment }: Checkout): View {
  const delayed = payment.exception === 'settlement_delayed'
  if (payment.status === 'settling')
    return { page: 'progress', now: 'sending', steps: ['done', 'done', 'current'], delayed }
  if (payment.paidAt === null)
    return { page: 'progress', now: 'confirming', steps: ['current', 'todo', 'todo'], delayed }
  return { page: 'progress', now: 'converting', steps: ['done', 'current', 'todo'], delayed }
}
