import type { MethodName, ProviderUsed } from '../../domain/methods.ts'
import type { Offer, OfferAnswer, Refusal } from '../../domain/offers.ts'
import type { FailureCode } from '../../domain/payment/partner.ts'
import type { PaymentStatus } from '../../domain/payment/payment.ts'
import type { Attempt, Payment } from '../../domain/payment/payment-object.ts'
import { isOpened, MAX_ATTEMPTS, type OpenedAttempt, planOpening } from '../../domain/payment/requests.ts'
import { readTransferLink, type TransferRequest } from '../../domain/settlement/deposit.ts'

/** The data from which every page of one payment is rendered. */
export type Checkout = {
  readonly payment: Payment
  /** Oldest first. */
  readonly attempts: readonly Attempt[]
  readonly merchantName: string
  readonly offered: OfferAnswer
  readonly country: BuyerCountry
  readonly asked: Asked
  /** The absolute URL of this checkout, for other devices. */
  readonly url: string
  /** The path of this checkout, for links and forms: it works under any host name. */
  readonly path: string
}

/** The buyer's country (ISO 3166 alpha-2; null when unknown), and who says so. */
export type BuyerCountry = { readonly code: string | null; readonly source: 'buyer' | 'header' | 'unknown' }

/** What the query of the request asks for: the picker, or one way to pay. */
export type Asked = {
  readonly picker: boolean
  readonly choice: { readonly provider: ProviderUsed; readonly method: MethodName } | null
}

export type StepState = 'done' | 'current' | 'todo'

/** The page that the buyer sees, with its data. */
export type View =
  | {
      readonly page: 'pick'
      readonly why: 'pin_refused' | 'choice_refused' | null
      readonly declined: FailureCode | null
    }
  | { readonly page: 'confirm'; readonly offer: Offer; readonly declined: FailureCode | null }
  | { readonly page: 'not_offered'; readonly refusal: Refusal | null }
  /** The payment was started as often as it may be. The attempt is the one that the buyer may still go on with. */
  | { readonly page: 'no_more_tries'; readonly goOn: Attempt | null }
  | { readonly page: 'upi'; readonly attempt: OpenedAttempt; readonly intentUri: string }
  | { readonly page: 'usdc'; readonly attempt: OpenedAttempt; readonly transfer: TransferRequest }
  | { readonly page: 'finish'; readonly attempt: OpenedAttempt }
  | { readonly page: 'verification'; readonly attempt: OpenedAttempt }
  | {
      readonly page: 'progress'
      readonly now: 'confirming' | 'converting' | 'sending'
      /** In order: paid, converting, sent to the merchant. */
      readonly steps: readonly [StepState, StepState, StepState]
      readonly delayed: boolean
    }
  | { readonly page: 'checking' }
  | { readonly page: 'done' }
  | { readonly page: 'closed'; readonly as: 'expired' | 'canceled' | 'failed' | 'refunded' }

/** One view for each status; the type makes a new status fail to compile until it has one. */
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

/** The newest attempt whose order is open at a partner, so that the buyer can go back to it; null without one. */
export function openedAttempt(attempts: readonly Attempt[]): OpenedAttempt | null {
  return attempts.findLast(isOpened) ?? null
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
  const over = noMoreTries(attempts, chosen)
  if (over !== null) return over
  const last = attempts.at(-1)
  const declined = last?.status === 'declined' ? (last.failureCode ?? 'declined') : null
  if (asked.picker || chosen === null) return { page: 'pick', why: whyPick(offered, asked), declined }
  return { page: 'confirm', offer: chosen, declined }
}

/** Null while the chosen way to pay, or any where none is chosen, may be opened. */
function noMoreTries(attempts: readonly Attempt[], chosen: Offer | null): View | null {
  const isOver = (way: Pick<Offer, 'provider' | 'method'>) => planOpening(attempts, way).kind === 'too_many_attempts'
  if (attempts.length < MAX_ATTEMPTS || (chosen !== null && !isOver(chosen))) return null
  return { page: 'no_more_tries', goOn: attempts.findLast((attempt) => !isOver(attempt)) ?? null }
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
