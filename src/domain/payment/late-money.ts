import { PROVIDERS } from '../methods.ts'
import type { Attempt, Payment } from './payment-object.ts'

/** Orders are read once more when the time for late money ends: money that this reading finds is in time. */
const LAST_READING_MS = 60_000

/**
 * True if the money of the attempt arrived too late to be the payment's: the payment was closed before, and the
 * partner's time for late money was over. Money of another partner can still be in time.
 */
export function isTooLate(payment: Payment, { paidAt, provider }: Pick<Attempt, 'paidAt' | 'provider'>): boolean {
  const { closedAs, failedAt, canceledAt, expiresAt } = payment
  if (closedAs === null || paidAt === null) return false
  const end = unixMs(failedAt ?? canceledAt ?? expiresAt) + PROVIDERS[provider].listenHours * 3_600_000
  return unixMs(paidAt) > end + LAST_READING_MS
}

/** Unix milliseconds of an ISO 8601 time. */
// oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
const unixMs = (time: string): number => Date.parse(time)
