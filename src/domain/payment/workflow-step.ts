import { isClosed, isOpen } from './payment.ts'
import type { PaymentSnapshot } from './snapshot.ts'

/**
 * The next step of a payment's workflow, and the moment at which it must look again. Every moment is computed from the row, and Temporal's
 * clock decides whether it has passed: nothing else here has a clock.
 */

export type WorkflowStep =
  | { readonly do: 'close'; readonly as: 'expired' | 'listening_ended' }
  /** A moment has passed that is only written down: the partner is silent, or the settlement is delayed. */
  | { readonly do: 'mark' }
  /** The open orders are read again: the safety net for lost callbacks. */
  | { readonly do: 'poll' }
  /** The money is converted and paid out. */
  | { readonly do: 'settle' }
  | { readonly do: 'give_back'; readonly attemptId: string }
  | { readonly do: 'wait' }
  | { readonly do: 'done' }

/** Times in Unix milliseconds. */
export type Clock = {
  readonly now: number
  /** When the orders were last read by the clock. */
  readonly polledAt: number
}

/** The first rule that holds counts. */
export function nextStep(payment: PaymentSnapshot, { now, polledAt }: Clock): WorkflowStep {
  if (isPast(getExpiry(payment), now)) return { do: 'close', as: 'expired' }
  if (isPast(getListeningEnd(payment), now)) return { do: 'close', as: 'listening_ended' }
  if (isPast(payment.silentAt, now) || isPast(payment.delayedAt, now)) return { do: 'mark' }
  if (isPast(nextPoll(payment, polledAt), now)) return { do: 'poll' }
  switch (payment.next) {
    case 'sell':
    case 'end_sale':
    case 'hand_over':
    case 'await_payout':
      return { do: 'settle' }
    case 'give_back':
      return { do: 'give_back', attemptId: payment.nextAttemptId ?? '' }
    case 'done':
      return { do: 'done' }
    default:
      return { do: 'wait' }
  }
}

/** The next moment at which there may be another step although nothing has come in; null: there is none. */
export function nextMoment(payment: PaymentSnapshot, polledAt: number): Moment | null {
  const moments = [
    { at: getExpiry(payment), what: 'The payment expires' },
    { at: getListeningEnd(payment), what: 'Late money is no longer expected' },
    { at: payment.silentAt, what: 'The partner has been silent for too long' },
    { at: payment.delayedAt, what: 'The settlement counts as delayed' },
    { at: nextPoll(payment, polledAt), what: 'The open orders are read again' },
  ]
  return moments.filter((moment): moment is Moment => moment.at !== null).toSorted((a, b) => a.at - b.at)[0] ?? null
}

/** `at` in Unix milliseconds; `what` is for people who look at the timer. */
export type Moment = { readonly at: number; readonly what: string }

const isPast = (moment: number | null, now: number): boolean => moment !== null && moment <= now

const getExpiry = ({ status, expiresAt }: PaymentSnapshot): number | null => (isOpen(status) ? expiresAt : null)

/** Closed, and waiting for nothing but late money. */
const getListeningEnd = ({ status, next, listenUntil }: PaymentSnapshot): number | null =>
  isClosed(status) && next === 'await_partner' ? listenUntil : null

const MINUTE = 60_000
/** An order is read so many minutes after it has changed, and then every six hours. */
export const POLL_AFTER_MINUTES = [1, 5, 15, 60] as const
const POLL_EVERY_MS = 6 * 60 * MINUTE

/** The first poll after the moment `since`. */
function nextPoll({ watched }: PaymentSnapshot, since: number): number | null {
  const polls = watched.map(({ changedAt }) => pollAfter(changedAt, since))
  return polls.length === 0 ? null : Math.min(...polls)
}

function pollAfter(changedAt: number, since: number): number {
  const early = POLL_AFTER_MINUTES.map((minutes) => changedAt + minutes * MINUTE).find((poll) => poll > since)
  return early ?? changedAt + (Math.floor((since - changedAt) / POLL_EVERY_MS) + 1) * POLL_EVERY_MS
}
