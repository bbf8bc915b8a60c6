import { findPollAfter } from '../payment/workflow-step.ts'
import { isRefundOver, REFUND_FINALITY_MS, type Refund, type RefundStatus } from './refund.ts'

/** The next step of a refund's workflow. Every moment is computed from the row: this file reads no clock. */

/** The row, as small as the workflow needs it. */
export type RefundSnapshot = {
  readonly id: string
  /** Increases with every change: the higher version is newer. */
  readonly version: number
  readonly status: RefundStatus
  readonly isOpened: boolean
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** Unix milliseconds; null: the partner was not asked. */
  readonly askedAt: number | null
}

/** The answer of an activity: the refund after it, and the new events with subscribers, which the workflow announces. */
export type RefundAnswer = { readonly refund: RefundSnapshot; readonly events: readonly string[] }

export type RefundStep =
  /** Makes the address for the USDC, or has payouts deducted. */
  | { readonly do: 'open' }
  | { readonly do: 'expire' }
  /** Asks the partner for the refund, under the same key until the partner has ended it. */
  | { readonly do: 'ask' }
  /** Unix milliseconds. */
  | { readonly do: 'wait'; readonly until: number }
  | { readonly do: 'done' }

/** Times in Unix milliseconds. `askedAt`: when this run last asked the partner; 0: it has not, or there is something new. */
export function decideRefundStep(
  refund: RefundSnapshot,
  clock: { readonly now: number; readonly askedAt: number },
): RefundStep {
  const { now } = clock
  switch (refund.status) {
    case 'awaiting_funds': {
      const until = refund.expiresAt + REFUND_FINALITY_MS
      if (until <= now) return { do: 'expire' }
      return refund.isOpened ? { do: 'wait', until } : { do: 'open' }
    }
    case 'funded':
      return { do: 'ask' }
    case 'pending': {
      if (refund.askedAt === null || clock.askedAt === 0) return { do: 'ask' }
      const until = findPollAfter(refund.askedAt, clock.askedAt)
      return until <= now ? { do: 'ask' } : { do: 'wait', until }
    }
    case 'succeeded':
    case 'failed':
    case 'canceled':
    case 'expired':
      return { do: 'done' }
  }
}

export const toRefundSnapshot = ({ id, version, status, openedAt, expiresAt, askedAt }: Refund): RefundSnapshot => ({
  id,
  version,
  status,
  isOpened: openedAt !== null,
  expiresAt: unixMs(expiresAt),
  askedAt: askedAt === null ? null : unixMs(askedAt),
})

/** Why the merchant cannot cancel, as a part of a sentence; null: they can. */
export function whyRefundNotCancelable(status: RefundStatus): string | null {
  if (status === 'awaiting_funds' || status === 'canceled') return null
  if (isRefundOver(status)) return `the refund has ${status}`
  return status === 'funded' ? 'its USDC has arrived' : 'the money is going back to the buyer'
}

const DAY_MS = 86_400_000

/**
 * Why an operator cannot say how the refund has ended, as a part of a sentence; null: the partner had a day to answer.
 * `now`: Unix milliseconds.
 */
export function whyRefundNotDecidable(
  { status, fundFrom, askedAt }: Pick<Refund, 'status' | 'fundFrom' | 'askedAt'>,
  now: number,
): string | null {
  if (fundFrom === 'payment')
    return 'it is the give-back of its payment: decide about that (`pinrail payments explain`)'
  if (status !== 'pending' || askedAt === null) return `it is ${status}, and no partner has to answer`
  return now - unixMs(askedAt) < DAY_MS ? 'its partner was asked less than a day ago' : null
}

/** Unix milliseconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
const unixMs = (time: string): number => Date.parse(time)
