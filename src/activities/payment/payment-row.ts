import { type Changed, changePayment } from '../../db/payments/payment-changes.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { listUntried } from '../../db/webhooks/deliveries.ts'
import { isClosed } from '../../domain/payment/payment.ts'
import { snapshotOf } from '../../domain/payment/snapshot.ts'
import { noteOf } from '../../domain/timeline.ts'
import { CLOCKS_DIFFER_MS, type PaymentDeps } from './payment-deps.ts'

/** The row, and the events that nobody has tried to deliver yet: what a run that takes over must know. */
export async function loadChanged(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return {
    payment: snapshotOf(await loadPayment(deps.db, paymentId)),
    events: await listUntried(deps.db, paymentId),
  }
}

export function markDelayed(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const { status, paidAt, delayedAt } = work.state.payment
      if (isClosed(status) || paidAt === null || delayedAt !== null) return
      work.set({ delayedAt: work.at })
      work.note(noteOf('payment.settlement_delayed'))
    },
  })
}

/** The partner has been confirming for longer than it may: an operator must ask it. Its money is taken when it comes. */
export function markSilent(deps: PaymentDeps, paymentId: string): Promise<Changed> {
  return changePayment(deps.db, deps.context, {
    id: paymentId,
    work: async (work) => {
      const { silentAt } = snapshotOf(work.state)
      if (silentAt === null || silentAt > deps.context.now() + CLOCKS_DIFFER_MS) return
      for (const { id, status } of work.state.attempts)
        if (status === 'confirming') work.setAttempt(id, { silent: true })
      work.note(noteOf('payment.silent'))
    },
  })
}
