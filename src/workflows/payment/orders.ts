import { condition, log } from '@temporalio/workflow'
import type { PaymentSnapshot } from '../../domain/payment/snapshot.ts'
import { PAID_SILENCE_SECONDS, reading } from '../options.ts'

type OrderRead = Awaited<ReturnType<typeof reading.readPartnerOrder>>

/** The payment of the orders, and the receivers of what its partners report. */
export type OrdersFace = {
  readonly paymentId: string
  readonly now: () => PaymentSnapshot
  readonly accept: (read: OrderRead) => void
  /** The partner did not answer: the polls read the order again. */
  readonly onSilence: () => void
}

/** The orders of a payment that must be read from their partners. */
export type Orders = {
  /** Has the order of this attempt read. */
  readonly add: (attemptId: string | null) => void
  /** Has these orders read by the clock, and all whose news could not be read. */
  poll(attemptIds: readonly string[]): void
  /** Has the watched orders read by a run that takes over, which knows only the row, and first of all the paid order. */
  takeOver(isFirst: boolean): void
  readonly waiting: () => boolean
  /** True if all news could be read. */
  readonly areRead: () => boolean
  /** Call it after a wait: the paid order must be read before the money moves on. */
  doubtPaid(): void
  /** True if the money must not move on: its partner has not confirmed it since the run took over or waited. */
  readonly isPaidUnsure: () => boolean
  /** Has the paid order read again after a pause that grows with each reading in vain, or as soon as something arrives. */
  askPaidAgain(hasComeIn: () => boolean): Promise<void>
  /** Reads one of the waiting orders, so that a request waits for one reading at most. */
  readNext(): Promise<void>
}

export function createOrders({ paymentId, now, accept, onSilence }: OrdersFace): Orders {
  const news = new Set<string>()
  /** Attempts whose news could not be read yet: the run does not end before it has read them. */
  const unread = new Set<string>()
  /** The paid attempt whose order must be read before its money moves on, and the number of readings in vain. */
  let unsure: { readonly attemptId: string; readonly reads: number } | null = null

  return {
    add: (attemptId) => void (attemptId !== null && news.add(attemptId)),
    poll(attemptIds) {
      for (const attemptId of [...attemptIds, ...unread]) news.add(attemptId)
      if (isPaidUnsure()) news.add(now().paidAttemptId as string)
    },
    takeOver(isFirst) {
      const { watched, paidAttemptId, next } = now()
      for (const attemptId of watched) news.add(attemptId)
      if (!isFirst || paidAttemptId === null) return
      // A payout that was handed over belongs to the engine: only a void stops it, and the reading asks for the void.
      if (next === 'await_payout') news.add(paidAttemptId)
      else doubtPaid()
    },
    doubtPaid,
    waiting: () => news.size > 0,
    areRead: () => unread.size === 0,
    isPaidUnsure,
    async askPaidAgain(hasComeIn) {
      const seconds = Math.min(2 ** (unsure?.reads ?? 0), PAID_SILENCE_SECONDS)
      await condition(hasComeIn, seconds * 1000, { summary: 'The paid order is read again' })
      doubtPaid()
    },
    readNext,
  }

  function doubtPaid(): void {
    const { paidAttemptId } = now()
    if (!mayMoveOn() || paidAttemptId === null) return
    news.add(paidAttemptId)
    if (unsure?.attemptId !== paidAttemptId) unsure = { attemptId: paidAttemptId, reads: 0 }
  }

  function isPaidUnsure(): boolean {
    const { paidAttemptId } = now()
    if (!mayMoveOn() || paidAttemptId === null) return false
    return unsure?.attemptId === paidAttemptId || unread.has(paidAttemptId)
  }

  /** True if the payment's money is to be sold or paid out. */
  function mayMoveOn(): boolean {
    const { next } = now()
    return next === 'sell' || next === 'hand_over'
  }

  function take(attemptId: string, answer: OrderRead): void {
    accept(answer)
    // Money of another attempt has arrived since: it is not in doubt.
    const isDoubted = unsure?.attemptId === now().paidAttemptId
    if (!isDoubted || (attemptId === unsure?.attemptId && answer.understood)) unsure = null
  }

  /** The next poll reads the order of a partner that does not answer. */
  async function readNext(): Promise<void> {
    const [attemptId] = news
    if (attemptId === undefined) return
    news.delete(attemptId)
    if (attemptId === unsure?.attemptId) unsure = { attemptId, reads: unsure.reads + 1 }
    try {
      take(attemptId, await reading.readPartnerOrder({ paymentId, attemptId }))
      unread.delete(attemptId)
    } catch {
      log.warn('the partner order could not be read; the relay and the next poll try again', { attemptId })
      unread.add(attemptId)
      onSilence()
    }
  }
}
