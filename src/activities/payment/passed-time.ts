import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import { createNote } from '../../domain/timeline.ts'
import { changePayment } from '../../payments/change-payment.ts'
import { createAnswer } from './answer.ts'
import type { PaymentDeps } from './payment-deps.ts'

/** `now`: by Temporal's clock, in Unix milliseconds. */
export type PassedTime = { readonly paymentId: string; readonly now: number }

/** A partner that confirms for too long is silent: an operator must ask it, and its money still counts. */
export async function markPassedTime(deps: PaymentDeps, { paymentId, now }: PassedTime): Promise<ActivityAnswer> {
  const changed = await changePayment(deps.db, deps.context, {
    id: paymentId,
    change: ({ state, at, addNote, setPayment, setAttempt }) => {
      const { delayedAt, silentAt } = toSnapshot(state)
      if (delayedAt !== null && delayedAt <= now) {
        setPayment({ delayedAt: at })
        addNote(createNote('payment.settlement_delayed'))
      }
      if (silentAt === null || silentAt > now) return
      for (const { id, status } of state.attempts) if (status === 'confirming') setAttempt(id, { silent: true })
      addNote(createNote('payment.silent'))
    },
  })
  return createAnswer(changed)
}
