import type { Payment } from './api-types.ts'
import { PinrailError } from './errors.ts'

export type WaitOptions = {
  /** The payment that is waited for. Default: it succeeded, failed, expired, was canceled or refunded. */
  readonly until?: (payment: Payment) => boolean
  /** Milliseconds after which WaitTimeoutError is thrown. Default 30 minutes. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The payment is not there yet. Nothing is known but that: it can still succeed. */
export class WaitTimeoutError extends PinrailError {
  override readonly name = 'WaitTimeoutError'
  readonly payment: Payment

  constructor(payment: Payment) {
    super(`The payment ${payment.id} is still ${payment.status}. It can still succeed: read it again, or wait longer.`)
    this.payment = payment
  }
}

const ENDS: readonly string[] = ['succeeded', 'failed', 'expired', 'canceled', 'refunded']
const FIRST_MS = 1000
const LONGEST_MS = 10_000

/** Returns a function that reads a payment each second at first, and at least each ten seconds later, until it is there. */
export function createWait(
  read: (id: string) => Promise<Payment>,
  pause: (milliseconds: number) => Promise<void>,
): (id: string, options?: WaitOptions) => Promise<Payment> {
  return async (id, { until = hasEnded, timeoutMs = 30 * 60_000, signal } = {}) => {
    const deadline = Date.now() + timeoutMs
    for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_MS)) {
      signal?.throwIfAborted()
      const payment = await read(id)
      if (until(payment)) return payment
      if (Date.now() + pauseMs > deadline) throw new WaitTimeoutError(payment)
      await pause(pauseMs)
    }
  }
}

const hasEnded = ({ status }: Payment): boolean => ENDS.includes(status)
