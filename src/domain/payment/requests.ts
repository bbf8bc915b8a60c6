import type { MethodName, ProviderUsed } from '../methods.ts'
import type { Answer } from './funds/answer.ts'
import type { FailureCode } from './partner.ts'
import { isOpen, mayStillBePaid, type PaymentStatus } from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from './payment-object.ts'

/** What the outside asks of a payment, and what it is answered: the payloads of the workflow's messages. */

/** So many partner orders a payment may have. More would let anybody with the link fill partner, row and history. */
export const MAX_ATTEMPTS = 20

export type OpenAttemptRequest = {
  readonly attemptId: string
  readonly provider: ProviderUsed
  readonly method: MethodName
}

/** What the buyer's click on Continue leads to. */
export type OpenAttemptAnswer =
  | { readonly kind: 'redirect'; readonly attemptId: string; readonly url: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'not_payable'; readonly status: PaymentStatus }
  /** The payment has had its `MAX_ATTEMPTS`, and none of them is the order that was asked for. */
  | { readonly kind: 'too_many_attempts' }

/** What opening an order comes to: the order that is open already, another one, or none any more. */
export type OpenPlan =
  | { readonly kind: 'reuse'; readonly attempt: Attempt }
  | { readonly kind: 'new' }
  | { readonly kind: 'too_many_attempts' }

/** Orders that the buyer may still pay at the partner. */
const REUSABLE: readonly Attempt['status'][] = ['opening', 'open', 'verification_required']

/**
 * The one rule for the workflow's activity, the API and the checkout. An attempt that is reused does not count. One whose
 * cancellation was asked for is not reused: the partner may carry it out while the buyer pays.
 */
export function planOpening(
  { attempts }: Pick<PaymentWithAttempts, 'attempts'>,
  choice: Pick<OpenAttemptRequest, 'provider' | 'method'>,
): OpenPlan {
  const attempt = attempts.find(
    ({ provider, method, status, cancelAsked }) =>
      provider === choice.provider && method === choice.method && REUSABLE.includes(status) && !cancelAsked,
  )
  if (attempt !== undefined) return { kind: 'reuse', attempt }
  return attempts.length < MAX_ATTEMPTS ? { kind: 'new' } : { kind: 'too_many_attempts' }
}

/** An attempt whose order is open at the partner, at this page. */
export type OpenedAttempt = Attempt & { readonly redirectUrl: string }

export function isOpened(attempt: Attempt): attempt is OpenedAttempt {
  return mayStillBePaid(attempt.status) && attempt.redirectUrl !== null
}

/**
 * The attempt that a double click, or a buyer who comes back, is sent to again without asking anybody. Null: the
 * workflow must be asked, because the order is not open yet, or because a newer one must be canceled first. The row may
 * be older than the truth: then the partner's page says that its order is over, and the money of the order is read as
 * ever, because the attempt is the same.
 */
export function readyToReuse(
  { payment, attempts }: Pick<PaymentWithAttempts, 'payment' | 'attempts'>,
  choice: Pick<OpenAttemptRequest, 'provider' | 'method'>,
): OpenedAttempt | null {
  const plan = planOpening({ attempts }, choice)
  if (!isOpen(payment.status) || plan.kind !== 'reuse') return null
  const { attempt } = plan
  const isNewest = attempts.findLast(({ status }) => mayStillBePaid(status))?.id === attempt.id
  return isNewest && attempt.status !== 'opening' && isOpened(attempt) ? attempt : null
}

export type CancelAnswer = { readonly status: PaymentStatus }

/** An operator's answer, and who gave it and why: both go to the payment's timeline. */
export type Decision = {
  readonly operator: string
  readonly reason: string
  /** The payment's version that the operator saw. A hold needs none. */
  readonly version?: number
  /** The attempt whose money goes back. It must be named if there are two. */
  readonly attempt?: string
  /** True if the buyer got it from elsewhere already. */
  readonly outside?: boolean
  /** The proof of that, such as the reference of a bank. It proves one give-back only. */
  readonly proof?: string
}

export type Say = Answer['say']

/** `unsure`: it may have been carried out by an earlier try, and the message says where to see it. */
export type DecisionAnswer = { readonly status: PaymentStatus; readonly message: string; readonly unsure?: true }

/** Who pays just before the end gets more time once, in milliseconds: enough to find the card, or to sign in at the bank. */
export const EXTENSION_MS = 15 * 60_000

/** It is offered from so long before the end, in milliseconds, with the warning. */
export const EXTENDABLE_MS = 5 * 60_000

type Extendable = Pick<Payment, 'status' | 'expiresAt' | 'expiryExtended'>

/** `now` is in Unix milliseconds. */
export function mayBeExtended({ status, expiresAt, expiryExtended }: Extendable, now: number): boolean {
  // oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
  const left = Date.parse(expiresAt) - now
  return isOpen(status) && !expiryExtended && left > 0 && left <= EXTENDABLE_MS
}
