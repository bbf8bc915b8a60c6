import { isClosed, isOpen } from './payment.ts'
import type { PaymentSnapshot } from './snapshot.ts'

/**
 * The next step of a payment's workflow, and the moment at which it must look again. Every moment is computed from the row, and Temporal's
 * clock decides whether it has passed: nothing in this file reads a clock.
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

/** First what is due, in the order of the list, then what the money needs. */
export function nextStep(payment: PaymentSnapshot, { now, polledAt }: Clock): WorkflowStep {
  const due = listMoments(payment, polledAt).find(({ at }) => at <= now)
  if (due !== undefined) return due.step
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
    case 'await_buyer':
    case 'await_partner':
    case 'await_release':
    case 'review':
    // The change that asks for the void has done it.
    case 'void':
      return { do: 'wait' }
  }
}

/** The next moment at which there may be another step although nothing has come in; null: there is none. */
export function nextMoment(payment: PaymentSnapshot, polledAt: number): Moment | null {
  const [first] = listMoments(payment, polledAt).toSorted((a, b) => a.at - b.at)
  return first === undefined ? null : { at: first.at, what: first.what }
}

/** The moments that lie before the payment. Of those that have passed the first of the list counts. */
function listMoments(payment: PaymentSnapshot, polledAt: number): (Moment & { readonly step: WorkflowStep })[] {
  const { silentAt, delayedAt } = payment
  const moments = [
    { at: getExpiry(payment), what: 'The payment expires', step: { do: 'close', as: 'expired' } },
    {
      at: getListeningEnd(payment),
      what: 'Late money is no longer expected',
      step: { do: 'close', as: 'listening_ended' },
    },
    { at: silentAt, what: 'The partner has been silent for too long', step: { do: 'mark' } },
    { at: delayedAt, what: 'The settlement counts as delayed', step: { do: 'mark' } },
    { at: nextPoll(payment, polledAt), what: 'The open orders are read again', step: { do: 'poll' } },
  ] as const
  return moments.flatMap(({ at, ...moment }) => (at === null ? [] : [{ at, ...moment }]))
}

/** `at` in Unix milliseconds; `what` is for people who look at the timer. */
export type Moment = { readonly at: number; readonly what: string }

const getExpiry = ({ status, expiresAt }: PaymentSnapshot): number | null => (isOpen(status) ? expiresAt : null)

/** Closed, and waiting for nothing but late money. */
const getListeningEnd = ({ status, next, listenUntil }: PaymentSnapshot): number | null =>
  isClosed(status) && next === 'await_partner' ? listenUntil : null

const MINUTE = 60_000
/** Minutes after an order's last change at which it is polled. Then it is polled every six hours. */
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
