import { answerWith, type Changed, changePayment } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { snapshotOf } from '../../domain/payment/snapshot.ts'
import { noteOf } from '../../domain/timeline.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** The row, and the events that nobody has tried to deliver yet: what a run that takes over must know. */
export async function loadChanged(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return answerWithUntried(deps, await loadPayment(deps.db, paymentId))
}

/** The answer where an earlier one may be lost, with the events that it named. */
export const answerWithUntried = async ({ db }: PaymentDeps, state: PaymentWithAttempts): Promise<Changed> =>
  answerWith({ state, events: await listUntried(db, state.payment.id) })

/** `now`: by the clock of Temporal, in Unix milliseconds. */
export type PassedTime = { readonly paymentId: string; readonly now: number }

/**
 * Notes which moments have passed. A settlement that takes too long is delayed. A partner that has been confirming for too long
 * is silent: an operator must ask it, and its money is taken when it comes.
 */
export async function markPassedTime(deps: PaymentDeps, { paymentId, now }: PassedTime): Promise<Changed> {
  const written = await changePayment(deps.db, deps.context, {
    id: paymentId,
    work: ({ state, at, note, set, setAttempt }) => {
      const { delayedAt, silentAt } = snapshotOf(state)
      if (delayedAt !== null && delayedAt <= now) {
        set({ delayedAt: at })
        note(noteOf('payment.settlement_delayed'))
      }
      if (silentAt === null || silentAt > now) return
      for (const { id, status } of state.attempts) if (status === 'confirming') setAttempt(id, { silent: true })
      note(noteOf('payment.silent'))
    },
  })
  return answerWith(written)
}
