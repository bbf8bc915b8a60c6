import { sleep } from '@temporalio/workflow'
import { isClosed, isOpen } from '../domain/payment/payment.ts'
import type { PaymentSnapshot } from '../domain/payment/snapshot.ts'
import { POLL_AFTER_MINUTES, POLL_EVERY_MINUTES } from './options.ts'

/** What the clocks read of the payment, and what they call. */
export type ClockFace = {
  readonly now: () => PaymentSnapshot
  /** The orders of these attempts must be read again. */
  readonly onPoll: (attemptIds: readonly string[]) => void
  /** The settlement is taking longer than it should. */
  readonly onDelay: () => Promise<void>
}

/**
 * What is due: the buyer has not paid in time, the time for late money has ended, or the partner has been confirming for
 * too long.
 */
export type Due = 'expired' | 'listening_ended' | 'silent'

/** The clocks of a payment. No timer is canceled: one that is left over costs nothing, and reads the payment when it rings. */
export type Clocks = {
  watchExpiry(): void
  /** What has rung for the present state of the payment. A clock that rings for an earlier state has no effect. */
  due(): Due | null
  /** The workflow has acted on what was due. */
  heard(): void
  /** Call it while the payment is closed and listens for late money. */
  watchListening(): void
  /** The safety net for lost callbacks: reads open orders after 1, 5, 15 and 60 minutes, then every 6 hours. */
  pollOrders(): void
  /** Starts the first four polls again, because a partner has something new to do. */
  pollAgain(): void
  /** Call it once the money has arrived: marks a settlement that takes too long, on time. */
  watchDelay(): void
  /** Call it while a partner is confirming. */
  watchSilence(): void
}

export function createClocks(face: ClockFace): Clocks {
  let rung: { readonly [what in Due]?: boolean } = {}
  /** The version of the payment on which the workflow acted last. */
  let heardVersion = 0
  /** The latest expiry that a timer waits for. */
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
      if (!isListening(face.now()) || end === listensUntil) return
      listensUntil = end
      void sleep(until(end), { summary: 'Late money is no longer expected' }).then(() => ring('listening_ended'))
    },
    watchSilence() {
      const end = face.now().silentAt
      if (end === null || end === silentAt) return
      silentAt = end
      void sleep(until(end), { summary: 'The partner has been silent for too long' }).then(() => ring('silent'))
    },
    due() {
      const now = face.now()
      if (rung.expired && isOpen(now.status)) return 'expired'
      if (isPast(now)) return 'expired'
      if (rung.listening_ended && isListening(now)) return 'listening_ended'
      return rung.silent && now.silentAt !== null ? 'silent' : null
    },
    heard() {
      rung = {}
      listensUntil = 0
      silentAt = 0
      heardVersion = face.now().version
    },
  }

  function watchExpiry(): void {
    const at = face.now().expiresAt
    watchedUntil = Math.max(watchedUntil, at)
    void sleep(until(at), { summary: 'The payment expires' }).then(() => {
      const { status, expiresAt } = face.now()
      ring('expired', isOpen(status) && expiresAt <= at)
      // The expiry was moved without a signal to this run.
      if (expiresAt > watchedUntil) watchExpiry()
    })
  }

  /** True if the payment waits for its buyer again after its expiry, as when a partner withdraws a confirmation. */
  function isPast({ status, expiresAt, version }: PaymentSnapshot): boolean {
    return isOpen(status) && expiresAt <= Date.now() && version > heardVersion
  }
}

/** The polls, and the delay of a settlement, which each poll looks at too. */
function createPolls(face: ClockFace): Pick<Clocks, 'pollOrders' | 'pollAgain' | 'watchDelay'> {
  let polls = false
  /** The moment of delay that is watched, in Unix milliseconds: it differs from partner to partner. */
  let watchedMoment: number | null = null
  let nextPollAt = Number.POSITIVE_INFINITY

  return {
    pollOrders() {
      if (polls) return
      polls = true
      void poll()
    },
    pollAgain() {
      void poll(POLL_AFTER_MINUTES.length)
    },
    watchDelay() {
      const { paidAt, delayedAfterMinutes } = face.now()
      // An earlier poll starts the clock in time, and most payments are settled before that poll.
      if (paidAt !== null && nextPollAt > paidAt + delayedAfterMinutes * 60_000) startDelay()
    },
  }

  async function poll(rounds = Number.POSITIVE_INFINITY): Promise<void> {
    for (let round = 0, waited = 0; round < rounds; round++) {
      const minutes = POLL_AFTER_MINUTES[round] ?? waited + POLL_EVERY_MINUTES
      if (rounds === Number.POSITIVE_INFINITY) nextPollAt = Date.now() + (minutes - waited) * 60_000
      await sleep((minutes - waited) * 60_000, { summary: 'The open orders are read again' })
      waited = minutes
      face.onPoll(face.now().watched)
      startDelay()
    }
  }

  /** A settlement that takes too long is marked even while a step is running. */
  function startDelay(): void {
    const { paidAt, delayedAfterMinutes } = face.now()
    const moment = paidAt === null ? null : paidAt + delayedAfterMinutes * 60_000
    if (moment === null || watchedMoment === moment) return
    watchedMoment = moment
    void sleep(until(moment), { summary: 'The settlement counts as delayed' }).then(async () => {
      const now = face.now()
      // Money that was withdrawn was not late, and money that has arrived since has its own clock.
      if (!isClosed(now.status) && !now.isDelayed && now.paidAt === paidAt) await face.onDelay().catch(watchAgain)
    })
  }

  /** An activity that an operator fails throws here, where an error would stop the run forever. */
  function watchAgain(): void {
    watchedMoment = null
  }
}

/** Closed, and waiting for nothing but late money. */
const isListening = ({ status, next, listenUntil }: PaymentSnapshot): boolean =>
  isClosed(status) && next === 'await_partner' && listenUntil !== null

/** A moment in Unix milliseconds as the time that is left, at least one millisecond. */
function until(moment: number): number {
  return Math.max(moment - Date.now(), 1)
}
