import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import type { Say } from '../domain/payment/funds/answer.ts'
import type {
  CancelAnswer,
  Decision,
  DecisionAnswer,
  OpenAttemptAnswer,
  OpenAttemptRequest,
} from '../domain/payment/requests.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'

/** The messages that a payment receives. The API imports these; handlers are in payment.ts. */

export type PaymentInput = {
  readonly id: string
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** True if the run takes over a payment that might have changed since: it reads the row first. */
  readonly resume: boolean
  /** For people who look at the run: the amount with its currency, and the merchant's id. */
  readonly amount: string
  readonly merchantId: string
}

/** Opens a partner order while the buyer waits for the answer. Update id = attempt id. */
export const openAttempt = defineUpdate<OpenAttemptAnswer, [OpenAttemptRequest]>('openAttempt')

/** Cancels the payment for the merchant. The answer shows whether the money or the cancellation was first. */
export const cancelPayment = defineUpdate<CancelAnswer, []>('cancel')

/** A partner's callback about an attempt. The workflow reads the order from the partner. */
export const orderChanged = defineSignal<[{ readonly attemptId: string }]>('orderChanged')

/** Null if an operator sent the signal by hand: a signal handler that throws would stop the run forever. */
export function readAttemptId(signal: unknown): string | null {
  const isNamed = typeof signal === 'object' && signal !== null && 'attemptId' in signal
  return isNamed && typeof signal.attemptId === 'string' ? signal.attemptId : null
}

/** The settlement engine, the checkout or skipped time in test mode has changed the row. */
export const rowChanged = defineSignal('rowChanged')

const operatorUpdate = (name: Say) => defineUpdate<DecisionAnswer, [Decision]>(name)

export const operatorUpdates = {
  settle: operatorUpdate('settle'),
  give_back: operatorUpdate('give_back'),
  write_off: operatorUpdate('write_off'),
  hold: operatorUpdate('hold'),
  release: operatorUpdate('release'),
} as const satisfies Record<Say, unknown>

/** For debugging; merchants and pages read Postgres. */
export const paymentState = defineQuery<PaymentSnapshot>('state')
