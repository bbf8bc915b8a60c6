import { PROVIDERS } from '../methods.ts'
import { formatUsdc } from '../money.ts'
import { listOffered, type Offered } from './decision.ts'
import { mayReturnTwice } from './funds/account.ts'
import { findMoneyStep, type MoneyStep } from './funds/money-step.ts'
import { hasMoney, toAccount, toFunds } from './funds/stored-funds.ts'
import {
  type AttemptView,
  type ClosedStatus,
  canStillBePaid,
  isClosed,
  type PaymentException,
  type PaymentStatus,
} from './payment.ts'
import type { Attempt, Payment, PaymentWithAttempts, Review } from './payment-object.ts'

/** The row, as small as the workflow needs it. */
export type PaymentSnapshot = {
  readonly id: string
  /** Increases with every change: the higher version is newer. */
  readonly version: number
  readonly status: PaymentStatus
  readonly exception: PaymentException | null
  /** The step of the money. One that needs no other party is taken at the end of each change, so `take` is `sell`. */
  readonly next: Exclude<MoneyStep['do'], 'take'>
  readonly nextAttemptId: string | null
  readonly reviews: readonly Review[]
  readonly answers: readonly Offered[]
  readonly held: boolean
  readonly attempts: readonly AttemptView[]
  /** Attempts whose orders are polled: money can still arrive or leave. */
  readonly watched: readonly WatchedAttempt[]
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** Unix milliseconds until which the payment waits for money of an unfinished attempt; null: no money can arrive. */
  readonly listenUntil: number | null
  /** Unix milliseconds from which the settlement is delayed; null: nothing is settled, or it is marked already. */
  readonly delayedAt: number | null
  readonly txHash: string | null
  readonly netUsdc: string | null
  /** True if money has arrived and was not given back. */
  readonly hasMoney: boolean
  /** Unix milliseconds from which a partner that is still confirming counts as silent; null: none is confirming. */
  readonly silentAt: number | null
}

/** `changedAt`: when the attempt was last written (Unix milliseconds). */
export type WatchedAttempt = { readonly id: string; readonly changedAt: number }

/** The answer of an activity: the payment after it, and the new events with subscribers, which the workflow announces. */
export type ActivityAnswer = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

/** A first run has it without reading the row. */
export function newPaymentSnapshot(id: string, expiresAt: number): PaymentSnapshot {
  return {
    id,
    version: 1,
    status: 'created',
    exception: null,
    next: 'await_buyer',
    nextAttemptId: null,
    reviews: [],
    answers: [{ say: 'hold' }],
    held: false,
    attempts: [],
    watched: [],
    expiresAt,
    listenUntil: null,
    delayedAt: null,
    txHash: null,
    netUsdc: null,
    hasMoney: false,
    silentAt: null,
  }
}

const ENDED: Readonly<Record<ClosedStatus, string>> = {
  succeeded: 'has already succeeded',
  failed: 'has already failed',
  expired: 'has already expired',
  canceled: 'is already canceled',
  refunded: 'has already been refunded',
}

/** Returns why the merchant cannot cancel, as a part of a sentence; null: no money is received or being confirmed. */
export function whyNotCancelable(payment: Pick<PaymentSnapshot, 'status' | 'hasMoney'>): string | null {
  if (isClosed(payment.status)) return `the payment ${ENDED[payment.status]}`
  if (payment.status !== 'created' && payment.status !== 'pending')
    return 'the buyer’s money has been received or is being confirmed'
  return payment.hasMoney ? 'a part of the price has arrived' : null
}

/** Their partner orders must be canceled and read before the payment is closed or another order is opened. */
export function unfinishedAttempts(payment: Pick<PaymentSnapshot, 'attempts'>): AttemptView[] {
  return payment.attempts.filter((attempt) => canStillBePaid(attempt.status))
}

export function toSnapshot(state: PaymentWithAttempts): PaymentSnapshot {
  const { payment, attempts } = state
  const funds = toFunds(state)
  const step = findMoneyStep(funds)
  return {
    id: payment.id,
    version: payment.version,
    status: payment.status,
    exception: payment.exception,
    next: step.do === 'take' ? 'sell' : step.do,
    nextAttemptId: step.do === 'give_back' ? step.accountId : null,
    reviews: payment.reviews,
    // A payment that is done accepts no decision.
    answers: step.do === 'done' ? [] : listOffered(funds),
    held: payment.held,
    attempts: attempts.map(({ id, provider, method, status }) => ({ id, provider, method, status })),
    watched: attempts
      .filter((attempt) => isWatched(payment, attempt))
      .map(({ id, updatedAt }) => ({ id, changedAt: unixMs(updatedAt) })),
    expiresAt: unixMs(payment.expiresAt),
    listenUntil: listenUntil(payment, attempts),
    delayedAt: delayedAt(payment),
    txHash: payment.transfer?.txHash ?? null,
    netUsdc: payment.usdc === null ? null : formatUsdc(payment.usdc.net),
    hasMoney: hasMoney(state),
    silentAt: step.do === 'await_partner' || step.do === 'review' ? silentAt(payment, attempts) : null,
  }
}

/** An order can bring money until its end, and a partner can take unpaid money back without a callback. */
function isWatched({ listenEnded, payout, paidAttemptId }: Payment, { id, status, back, held }: Attempt): boolean {
  const mayArrive = canStillBePaid(status) && !listenEnded
  const mayLeave = held !== '0' && !(payout === 'paid' && id === paidAttemptId)
  return mayArrive || mayLeave || back === 'asked'
}

function delayedAt({ status, paidAt, providerUsed, delayedAt: markedAt }: Payment): number | null {
  if (isClosed(status) || paidAt === null || providerUsed === null || markedAt !== null) return null
  return unixMs(paidAt) + PROVIDERS[providerUsed].delayedAfterMinutes * 60_000
}

/** A partner that confirms for longer than the payment would wait for its late money counts as silent. */
function silentAt(payment: Payment, attempts: readonly Attempt[]): number | null {
  if (isClosed(payment.status)) return null
  const confirming = attempts.filter(({ status, silent }) => status === 'confirming' && !silent)
  const ends = confirming.map(({ updatedAt, silentAfterHours }) => unixMs(updatedAt) + silentAfterHours * 3_600_000)
  return ends.length === 0 ? null : Math.max(...ends)
}

/**
 * Adds the partner's hours for late money to the end of the payment, for the slowest partner whose attempt can still be
 * paid. If the buyer got a give-back from elsewhere too, the hours begin when that was recorded, even after the time
 * for late money.
 */
function listenUntil(payment: Payment, attempts: readonly Attempt[]): number | null {
  const ended = unixMs(payment.succeededAt ?? payment.failedAt ?? payment.canceledAt ?? payment.expiresAt)
  const ends = attempts.flatMap((attempt) => {
    const mayReturn = mayReturnTwice(toAccount(attempt))
    if (!mayReturn && (payment.listenEnded || !canStillBePaid(attempt.status))) return []
    const since = mayReturn ? Math.max(ended, unixMs(attempt.updatedAt)) : ended
    return since + PROVIDERS[attempt.provider].listenHours * 3_600_000
  })
  return ends.length === 0 ? null : Math.max(...ends)
}

/** Unix milliseconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
const unixMs = (time: string): number => Date.parse(time)
