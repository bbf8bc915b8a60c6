import { condition, log } from '@temporalio/workflow'
import { whyNotThere } from '../../domain/payment/decision.ts'
import { nextStep, type PaymentSnapshot, watchedAttempts } from '../../domain/payment/snapshot.ts'
import { PAID_SILENCE_SECONDS, reading } from '../options.ts'

type OrderRead = Awaited<ReturnType<typeof reading.readPartnerOrder>>

/** Whose orders they are, and who takes over what their partner says. */
export type OrdersFace = {
  readonly paymentId: string
  readonly now: () => PaymentSnapshot
  readonly accept: (read: OrderRead) => void
  /** The partner did not answer: it is asked again by the polls. */
  readonly onSilence: () => void
}

/** The orders of a payment that are to be read from their partners. */
export type Orders = {
  /** The order of this attempt is to be read. */
  readonly add: (attemptId: string | null) => void
  /** So are these by the clock, and with them what could not be read. */
  poll(attemptIds: readonly string[]): void
  /** A run that takes over knows the row alone: what it watches is to be read, and whether the paid money is still there. */
  takeOver(isFirst: boolean): void
  readonly waiting: () => boolean
  /** None is left whose news could not be read. */
  readonly areRead: () => boolean
  /** The payment has waited: whether its money is still there is to be read before it moves on. */
  doubtPaid(): void
  /** Money may not move on: since the run has taken over or waited, its partner has not said that it is still there. */
  readonly isPaidUnsure: () => boolean
  /** It is read again after a while, longer after each reading in vain, or when something has come in. */
  askPaidAgain(hasComeIn: () => boolean): Promise<void>
  readAll(): Promise<void>
  /** Why the paid money cannot move on by what its partner says now; null where it is there. */
  readPaid(attemptId: string): Promise<string | null>
}

export function createOrders({ paymentId, now, accept, onSilence }: OrdersFace): Orders {
  const news = new Set<string>()
  /** Attempts whose news could not be read yet: the run does not end before they are. */
  const unread = new Set<string>()
  /** The attempt of which it must be read first whether its money is still there, and how often it was read in vain. */
  let unsure: { readonly attemptId: string; readonly reads: number } | null = null

  return {
    add: (attemptId) => void (attemptId !== null && news.add(attemptId)),
    poll(attemptIds) {
      for (const attemptId of [...attemptIds, ...unread]) news.add(attemptId)
      if (isPaidUnsure()) news.add(now().paidAttemptId as string)
    },
    takeOver(isFirst) {
      for (const attemptId of watchedAttempts(now())) news.add(attemptId)
      const { paidAttemptId, status } = now()
      const step = nextStep(now())
      if (!isFirst || paidAttemptId === null || (step !== 'convert' && step !== 'transfer')) return
      news.add(paidAttemptId)
      // What was handed over is the engine's: only a void could keep it from being paid, and the reading asks for that.
      if (status === 'processing') unsure = { attemptId: paidAttemptId, reads: 0 }
    },
    doubtPaid,
    waiting: () => news.size > 0,
    areRead: () => unread.size === 0,
    isPaidUnsure,
    async askPaidAgain(hasComeIn) {
      await condition(hasComeIn, Math.min(2 ** (unsure?.reads ?? 0), PAID_SILENCE_SECONDS) * 1000)
      doubtPaid()
    },
    readAll,
    async readPaid(attemptId) {
      const answer = await reading.readPartnerOrder({ paymentId, attemptId }).catch(() => null)
      if (answer !== null) take(attemptId, answer)
      return whyNotThere(answer, now())
    },
  }

  function doubtPaid(): void {
    const { paidAttemptId, status } = now()
    if (status !== 'processing' || paidAttemptId === null) return
    news.add(paidAttemptId)
    if (unsure?.attemptId !== paidAttemptId) unsure = { attemptId: paidAttemptId, reads: 0 }
  }

  function isPaidUnsure(): boolean {
    const { paidAttemptId, status } = now()
    if (status !== 'processing' || paidAttemptId === null) return false
    return unsure?.attemptId === paidAttemptId || unread.has(paidAttemptId)
  }

  function take(attemptId: string, answer: OrderRead): void {
    accept(answer)
    // Of another attempt's money, that came since, nothing is doubted.
    const isDoubted = unsure?.attemptId === now().paidAttemptId
    const isThere = whyNotThere(answer, now()) === null || answer.whole
    if (!isDoubted || (attemptId === unsure?.attemptId && isThere)) unsure = null
  }

  /** What a partner has done is read from the partner; one that does not answer is asked again by the next poll. */
  async function readAll(): Promise<void> {
    const attemptIds = [...news]
    news.clear()
    for (const attemptId of attemptIds) {
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
}

/** A refund was refused: the money may go on once its partner says that it is there, or it has gone. */
export function readAfterRefusal(payment: PaymentSnapshot): readonly (string | null)[] {
  return [payment.paidAttemptId, ...payment.surplus]
}
