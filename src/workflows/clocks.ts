import { sleep } from '@temporalio/workflow'
import { isClosed, isOpen } from '../domain/payment/payment.ts'
import { nextStep, type PaymentSnapshot, watchedAttempts } from '../domain/payment/snapshot.ts'
import { POLL_AFTER_MINUTES, POLL_EVERY_MINUTES } from './options.ts'

/** What the clocks of a payment ask, and whom they wake. */
export type ClockFace = {
  readonly now: () => PaymentSnapshot
  /** The orders of these attempts are to be read again. */
  readonly onPoll: (attemptIds: readonly string[]) => void
  /** The settlement takes longer than it should. */
  readonly onDelay: () => Promise<void>
}

/**
 * What it is time for: the buyer has not paid, late money is not waited for any more, or the partner has been confirming
 * for too long.
 */
export type Due = 'expired' | 'listening_ended' | 'silent'

/** The clocks of a payment. None is canceled: a timer left behind costs nothing, and looks at the payment when it rings. */
export type Clocks = {
  watchExpiry(): void
  /** What has rung for the state that the payment is in. A clock that rings for a state it has left wakes nobody. */
  due(): Due | null
  /** It has been acted on. */
  heard(): void
  /** While the payment is closed and listens for late money. */
  watchListening(): void
  /** The safety net for lost callbacks: reads open orders after 1, 5, 15 and 60 minutes, then every 6 hours. */
  pollOrders(): void
  /** The same schedule from now on: something new is waited for at a partner. */
  pollAnew(): void
  /** Once the money has come: marks a settlement that takes too long, on time. */
  watchDelay(): void
  /** While a partner is confirming. */
  watchSilence(): void
}

export function createClocks(face: ClockFace): Clocks {
  let rung: { readonly [what in Due]?: boolean } = {}
  /** The expiry passed while a partner was confirming, which it may withdraw. */
  let isOverdue = false
  /** Which version of the payment was acted on last. */
  let heardVersion = 0
  /** The latest end that a timer waits for. */
  let watchedUntil = 0
  let listensUntil = 0
  let silentAt = 0
  const ring = (what: Due, isSo = true): void => {
    rung = { ...rung, [what]: isSo }
  }

  return {
    ...createPolls(face),
    watchExpiry,
    watchListening() {
      const end = face.now().listenUntil ?? 0
      if (nextStep(face.now()) !== 'listen' || end === listensUntil) return
      listensUntil = end
      void sleep(until(end)).then(() => ring('listening_ended'))
    },
    watchSilence() {
      const end = face.now().silentAt
      if (end === null || end === silentAt) return
      silentAt = end
      void sleep(until(end)).then(() => ring('silent'))
    },
    due() {
      const now = face.now()
      const step = nextStep(now)
      if (rung.expired && isOpen(now.status)) return 'expired'
      if (isOverdue && isOpen(now.status)) return 'expired'
      if (isPast(now)) return 'expired'
      if (rung.listening_ended && step === 'listen') return 'listening_ended'
      return rung.silent && step === 'await_partner' ? 'silent' : null
    },
    heard() {
      rung = {}
      isOverdue = false
      heardVersion = face.now().version
    },
  }

  function watchExpiry(): void {
    const at = face.now().expiresAt
    watchedUntil = Math.max(watchedUntil, at)
    void sleep(until(at)).then(() => {
      const { status, expiresAt } = face.now()
      ring('expired', isOpen(status) && expiresAt <= at)
      isOverdue = !isOpen(status) && expiresAt <= at
      // It was moved, and whoever moved it has told nobody.
      if (expiresAt > watchedUntil) watchExpiry()
    })
  }

  /** It waits for its buyer again, after an end that nobody may pass, and nobody has looked at that yet. */
  function isPast({ status, expiresAt, version }: PaymentSnapshot): boolean {
    return isOpen(status) && expiresAt <= Date.now() && version > heardVersion
  }
}

/** The polls, and the delay of a settlement, which they watch too. */
function createPolls(face: ClockFace): Pick<Clocks, 'pollOrders' | 'pollAnew' | 'watchDelay'> {
  let polls = false
  /** When the money came whose settlement is watched. */
  let watchedSince: number | null = null
  let nextPollAt = Number.POSITIVE_INFINITY

  return {
    pollOrders() {
      if (polls) return
      polls = true
      void poll()
    },
    pollAnew() {
      void poll(POLL_AFTER_MINUTES.length)
    },
    watchDelay() {
      const { paidAt, delayedAfterMinutes } = face.now()
      // The next poll starts the clock in time, and most payments are settled before it.
      if (paidAt !== null && nextPollAt > paidAt + delayedAfterMinutes * 60_000) startDelay()
    },
  }

  async function poll(rounds = Number.POSITIVE_INFINITY): Promise<void> {
    for (let round = 0, waited = 0; round < rounds; round++) {
      const minutes = POLL_AFTER_MINUTES[round] ?? waited + POLL_EVERY_MINUTES
      if (rounds === Number.POSITIVE_INFINITY) nextPollAt = Date.now() + (minutes - waited) * 60_000
      await sleep((minutes - waited) * 60_000)
      waited = minutes
      face.onPoll(polled(face.now()))
      startDelay()
    }
  }

  /**
   * A conversion may wait for long, and so may a payout, for funds or behind a pause: the money may go meanwhile without a
   * word. What a partner holds back after it had confirmed it goes on by the partner's word alone, which may get lost. What
   * waits for a person, as a second payment does, cannot be given back when it has gone.
   */
  function polled(payment: PaymentSnapshot): string[] {
    return [...polledForPayment(payment), ...payment.surplus]
  }

  function polledForPayment(payment: PaymentSnapshot): string[] {
    const { paidAttemptId, status } = payment
    const step = nextStep(payment)
    const mayGo = step === 'convert' || step === 'transfer' || status === 'under_review'
    return paidAttemptId !== null && mayGo ? [...watchedAttempts(payment), paidAttemptId] : watchedAttempts(payment)
  }

  /** A settlement that takes too long is marked even while a step is being waited for. */
  function startDelay(): void {
    const { paidAt, delayedAfterMinutes } = face.now()
    if (paidAt === null || watchedSince === paidAt) return
    watchedSince = paidAt
    void sleep(until(paidAt + delayedAfterMinutes * 60_000)).then(async () => {
      const now = face.now()
      // Withdrawn, it was not late; what has come since has a clock of its own.
      if (!isClosed(now.status) && now.paidAt === paidAt) await face.onDelay().catch(watchAgain)
    })
  }

  /** Ended by hand it throws where nobody waits, which would stop the run for good. */
  function watchAgain(): void {
    watchedSince = null
  }
}

/** A moment in unix milliseconds, as the time that is left; what is over rings at once. */
function until(moment: number): number {
  return Math.max(moment - Date.now(), 1)
}
