import type { MethodName, ProviderUsed } from '../methods.ts'
import type { FailureCode } from './partner.ts'
import type { PaymentStatus } from './payment.ts'

/** What the outside asks of a payment, and what it is answered: the payloads of the workflow's messages. */

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

export type CancelAnswer = { readonly status: PaymentStatus }

export const OPERATOR_DECISIONS = [
  'approve',
  'reject',
  'refund',
  'recordExternalRefund',
  'hold',
  'release',
  'retry',
] as const
export type OperatorDecision = (typeof OPERATOR_DECISIONS)[number]

/** Who decides and why: both go to the payment's timeline. */
export type OperatorNote = { readonly operator: string; readonly reason: string }

export type DecisionAnswer = { readonly status: PaymentStatus; readonly message: string }
