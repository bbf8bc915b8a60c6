import { answerWith, changePayment } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import type { PaymentWithAttempts } from '../../domain/payment/payment-object.ts'
import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import type { PaymentDeps } from './payment-deps.ts'

export async function loadChanged(deps: PaymentDeps, paymentId: string): Promise<ActivityAnswer> {
  return answerWithUntried(deps, await loadPayment(deps.db, paymentId))
}

/** Includes all untried events, because an earlier answer that named them might be lost. */
export const answerWithUntried = async ({ db }: PaymentDeps, state: PaymentWithAttempts): Promise<ActivityAnswer> =>
  answerWith({ state, events: await listUntried(db, state.payment.id) })

/** `now`: by Temporal's clock, in Unix milliseconds. */
export type PassedTime = { readonly paymentId: string; readonly now: number }

/** A partner that confirms for too long is silent: an operator must ask it, and its money still counts. */
export async function markPassedTime(deps: PaymentDeps, { paymentId, now }: PassedTime): Promise<ActivityAnswer> {
  const written = await changePayment(deps.db, deps.context, {
    id: paymentId,
    work: ({ state, at, note, set, setAttempt }) => {
      const { delayedAt, silentAt } = toSnapshot(state)
      if (delayedAt !== null && delayedAt <= now) {
        set({ delayedAt: at })
        note(createNote('payment.settlement_delayed'))
      }
      if (silentAt === null || silentAt > now) return
      for (const { id, status } of state.attempts) if (status === 'confirming') setAttempt(id, { silent: true })
      note(createNote('payment.silent'))
    },
  })
  return answerWith(written)
}
