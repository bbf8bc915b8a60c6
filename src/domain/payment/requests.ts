import type { MethodName, ProviderUsed } from '../methods.ts'
import type { Answer } from './funds/answer.ts'
import type { FailureCode } from './partner.ts'
import { canStillBePaid, isOpen, type PaymentStatus } from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts } from './payment-object.ts'

/** The requests to a payment and their answers: the payloads of the workflow's messages. */

/** With more partner orders, anybody with the link could fill partner, row and workflow history. */
export const MAX_ATTEMPTS = 20

export type OpenAttemptRequest = {
  readonly attemptId: string
  readonly provider: ProviderUsed
  readonly method: MethodName
}

export type OpenAttemptAnswer =
  | { readonly kind: 'redirect'; readonly attemptId: string; readonly url: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'not_payable'; readonly status: PaymentStatus }
  /** The payment already has `MAX_ATTEMPTS`, and none of them is the requested order. */
  | { readonly kind: 'too_many_attempts' }

export type OpenPlan =
  | { readonly kind: 'reuse'; readonly attempt: Attempt }
  | { readonly kind: 'new' }
  | { readonly kind: 'too_many_attempts' }

const REUSABLE: readonly Attempt['status'][] = ['opening', 'open', 'verification_required']

/**
 * Decides whether an order is reused. The workflow's activity, the API and the checkout use this rule. A reused attempt
 * does not count. An attempt whose cancellation was requested is not reused: the partner might cancel it while the
 * buyer pays.
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

export type OpenedAttempt = Attempt & { readonly redirectUrl: string }

export function isOpened(attempt: Attempt): attempt is OpenedAttempt {
  return canStillBePaid(attempt.status) && attempt.redirectUrl !== null
}

/**
 * Returns the attempt to which a double click, or a buyer who returns, is sent again without a request to the workflow.
 * Null: the workflow must be asked, because the order is not open yet, or because a newer one must be canceled first.
 * The row can be out of date: then the partner's page shows that its order is over, and the order's money is read as
 * usual, because the attempt is the same.
 */
export function readyToReuse(
  { payment, attempts }: Pick<PaymentWithAttempts, 'payment' | 'attempts'>,
  choice: Pick<OpenAttemptRequest, 'provider' | 'method'>,
): OpenedAttempt | null {
  const plan = planOpening({ attempts }, choice)
  if (!isOpen(payment.status) || plan.kind !== 'reuse') return null
  const { attempt } = plan
  const isNewest = attempts.findLast(({ status }) => canStillBePaid(status))?.id === attempt.id
  return isNewest && attempt.status !== 'opening' && isOpened(attempt) ? attempt : null
}

export type CancelAnswer = { readonly status: PaymentStatus }

/** An operator's decision, who made it and why: all go to the payment's timeline. */
export type Decision = {
  readonly operator: string
  readonly reason: string
  /** The payment's version that the operator saw. A hold needs none. */
  readonly version?: number
  /** The attempt whose money goes back. It must be named if there are several. */
  readonly attempt?: string
  /** True if the buyer got it from elsewhere already. */
  readonly outside?: boolean
  /** The proof of that, such as the reference of a bank. It proves one give-back only. */
  readonly proof?: string
}

export type Say = Answer['say']

/** `unsure`: an earlier try might have carried it out, and the message names the place to check. */
export type DecisionAnswer = { readonly status: PaymentStatus; readonly message: string; readonly unsure?: true }

/** More time for a late buyer, once: enough to find the card, or to sign in at the bank (milliseconds). */
export const EXTENSION_MS = 15 * 60_000

/** How long before the end it is offered, with the warning (milliseconds). */
export const EXTENDABLE_MS = 5 * 60_000

type Extendable = Pick<Payment, 'status' | 'expiresAt' | 'expiryExtended'>

/** `now` is in Unix milliseconds. */
export function canBeExtended({ status, expiresAt, expiryExtended }: Extendable, now: number): boolean {
  // oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
  const left = Date.parse(expiresAt) - now
  return isOpen(status) && !expiryExtended && left > 0 && left <= EXTENDABLE_MS
}
