import { log, patched } from '@temporalio/workflow'
import { whyNotThere } from '../../domain/payment/decision.ts'
import { nextStep, type PaymentSnapshot, watchedAttempts } from '../../domain/payment/snapshot.ts'
import { PATCHES, reading } from '../options.ts'

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
  add(attemptId: string | null): void
  /** So are these by the clock, and with them what could not be read. */
  poll(attemptIds: readonly string[]): void
  /** A run that takes over knows the row alone: what it watches is to be read, and whether the paid money is still there. */
  takeOver(isFirst: boolean): void
  readonly waiting: () => boolean
  /** None is left whose news could not be read. */
  readonly areRead: () => boolean
  /** Money may not move on: the run has taken over, and its partner has not said that it is still there. */
  readonly isPaidUnsure: () => boolean
  readAll(): Promise<void>
  /** Why the paid money cannot move on by what its partner says now; null where it is there. */
  readPaid(attemptId: string): Promise<string | null>
}

export function createOrders({ paymentId, now, accept, onSilence }: OrdersFace): Orders {
  const news = new Set<string>()
  /** Attempts whose news could not be read yet: the run does not end before they are. */
  const unread = new Set<string>()
  let isUnsure = false

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
      if (!patched(PATCHES.readsWhenResumed)) return
      news.add(paidAttemptId)
      // What was handed over is the engine's: only a void could keep it from being paid, and the reading asks for that.
      isUnsure = status === 'processing'
    },
    waiting: () => news.size > 0,
    areRead: () => unread.size === 0,
    isPaidUnsure,
    readAll,
    async readPaid(attemptId) {
      const answer = await reading.readPartnerOrder({ paymentId, attemptId }).catch(() => null)
      if (answer !== null) take(attemptId, answer)
      return whyNotThere(answer, now())
    },
  }

  function isPaidUnsure(): boolean {
    return isUnsure && now().status === 'processing' && now().paidAttemptId !== null
  }

  function take(attemptId: string, answer: OrderRead): void {
    accept(answer)
    if (attemptId === now().paidAttemptId && whyNotThere(answer, now()) === null) isUnsure = false
  }

  /** What a partner has done is read from the partner; one that does not answer is asked again by the next poll. */
  async function readAll(): Promise<void> {
    const attemptIds = [...news]
    news.clear()
    for (const attemptId of attemptIds) {
      try {
        take(attemptId, await reading.readPartnerOrder({ paymentId, attemptId }))
        unread.delete(attemptId)
      } catch {
        log.warn('the partner order could not be read; the relay and the next poll try again', { attemptId })
        if (patched(PATCHES.keepsUnreadNews)) unread.add(attemptId)
        onSilence()
      }
    }
  }
}
