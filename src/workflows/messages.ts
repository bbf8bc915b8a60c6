import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import { lateMoneyWorkflowId } from '../domain/ids.ts'
import type {
  CancelAnswer,
  DecisionAnswer,
  OpenAttemptAnswer,
  OpenAttemptRequest,
  OperatorDecision,
  OperatorNote,
} from '../domain/payment/requests.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import { NEEDS_OPERATOR, PAYMENT_STATUS } from './search-attributes.ts'

/** The messages that a payment receives. The API imports these; handlers are in payment.ts. */

export type PaymentInput = {
  readonly id: string
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** The run takes over a payment that may have moved on: it reads the row first. */
  readonly resume: boolean
  /** For people who look at the run: the amount with its currency, and the merchant's id. */
  readonly amount: string
  readonly merchantId: string
}

/** The buyer waits for the answer: opens a partner order. Update id = attempt id. */
export const openAttempt = defineUpdate<OpenAttemptAnswer, [OpenAttemptRequest]>('openAttempt')

/** The merchant cancels. The answer says whether the money or the cancellation was first. */
export const cancelPayment = defineUpdate<CancelAnswer, []>('cancel')

/** A partner reports news of an attempt. The workflow reads the order from the partner. */
export const partnerNews = defineSignal<[{ readonly attemptId: string }]>('partnerNews')

/**
 * The attempt of the news; null if an operator sent the signal by hand without an attempt. A signal handler that throws
 * would stop the run forever.
 */
export function attemptOf(news: unknown): string | null {
  const isNamed = typeof news === 'object' && news !== null && 'attemptId' in news
  return isNamed && typeof news.attemptId === 'string' ? news.attemptId : null
}

/**
 * Another process has changed the row: the settlement engine, after the transfer activity had answered; the buyer, who took
 * more time; or a skip of time in test mode.
 */
export const rowChanged = defineSignal('rowChanged')

const operatorUpdate = (name: OperatorDecision) => defineUpdate<DecisionAnswer, [OperatorNote]>(name)

export const operatorUpdates = {
  approve: operatorUpdate('approve'),
  reject: operatorUpdate('reject'),
  refund: operatorUpdate('refund'),
  recordExternalRefund: operatorUpdate('recordExternalRefund'),
  hold: operatorUpdate('hold'),
  release: operatorUpdate('release'),
  retry: operatorUpdate('retry'),
  acknowledge: operatorUpdate('acknowledge'),
} as const satisfies Record<OperatorDecision, unknown>

/** For debugging; merchants and pages read Postgres. */
export const paymentState = defineQuery<PaymentSnapshot>('state')

export type LateMoneyInput = { readonly paymentId: string; readonly attemptId: string }

/** How the workflow for late money is started, by the payment's workflow or by the relay. */
export function lateMoneyOptions({ paymentId, attemptId }: LateMoneyInput) {
  return {
    workflowId: lateMoneyWorkflowId(attemptId),
    // Late money may arrive again after the first of it was given back.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `Late money for ${paymentId}`,
    typedSearchAttributes: [
      { key: PAYMENT_STATUS, value: 'late_money' },
      { key: NEEDS_OPERATOR, value: true },
    ],
  }
}
