import { isClosed, isOpen } from './payment.ts'
import type { PaymentSnapshot } from './snapshot.ts'

/**
 * The next step of a payment's workflow, and the moment at which it must decide again. Every moment is computed from
 * the row, and Temporal's clock decides whether it has passed: this file reads no clock.
 */

export type WorkflowStep =
  | { readonly do: 'close'; readonly as: 'expired' | 'listening_ended' }
  /** A moment has passed that is only recorded: the partner is silent, or the settlement is delayed. */
  | { readonly do: 'mark' }
  /** The open orders are read again: the safety net for lost callbacks. */
  | { readonly do: 'poll' }
  | { readonly do: 'settle' }
  | { readonly do: 'give_back'; readonly attemptId: string }
  | { readonly do: 'wait' }
  | { readonly do: 'done' }

/** Times in Unix milliseconds. */
export type Clock = {
  readonly now: number
  readonly polledAt: number
}

/** Returns the first moment of the list that is due, or else the step that the money needs. */
export function decideWorkflowStep(payment: PaymentSnapshot, { now, polledAt }: Clock): WorkflowStep {
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
    // The change that requires the void has already requested it.
    case 'void':
      return { do: 'wait' }
  }
}

/** Returns the next moment at which a step can be due although no message arrived; null: there is none. */
export function findNextMoment(payment: PaymentSnapshot, polledAt: number): Moment | null {
  const [first] = listMoments(payment, polledAt).toSorted((a, b) => a.at - b.at)
  return first === undefined ? null : { at: first.at, what: first.what }
}

/** Lists the moments that the payment waits for. The first passed one of the list decides. */
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
    { at: findNextPoll(payment, polledAt), what: 'The open orders are read again', step: { do: 'poll' } },
  ] as const
  return moments.flatMap(({ at, ...moment }) => (at === null ? [] : [{ at, ...moment }]))
}

/** `at` in Unix milliseconds; `what` is for people who look at the timer. */
export type Moment = { readonly at: number; readonly what: string }

const getExpiry = ({ status, expiresAt }: PaymentSnapshot): number | null => (isOpen(status) ? expiresAt : null)

/** Only for a closed payment that waits for late money alone. */
const getListeningEnd = ({ status, next, listenUntil }: PaymentSnapshot): number | null =>
  isClosed(status) && next === 'await_partner' ? listenUntil : null

const MINUTE = 60_000
/** Minutes after an order's last change at which it is polled. After that it is polled every six hours. */
export const POLL_AFTER_MINUTES = [1, 5, 15, 60] as const
const POLL_EVERY_MS = 6 * 60 * MINUTE

function findNextPoll({ watched }: PaymentSnapshot, since: number): number | null {
  const polls = watched.map(({ changedAt }) => findPollAfter(changedAt, since))
  return polls.length === 0 ? null : Math.min(...polls)
}

/** Returns the first poll after `since` of what was changed at that time (Unix milliseconds). */
export function findPollAfter(changedAt: number, since: number): number {
  const early = POLL_AFTER_MINUTES.map((minutes) => changedAt + minutes * MINUTE).find((poll) => poll > since)
  return early ?? changedAt + (Math.floor((since - changedAt) / POLL_EVERY_MS) + 1) * POLL_EVERY_MS
}
