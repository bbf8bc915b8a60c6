import type { Queryable } from '../../db/db.ts'
import { loadPaymentWithEvents } from '../../db/payments/payments.ts'
import { type ActivityAnswer, toSnapshot } from '../../domain/payment/snapshot.ts'
import type { ChangedPayment } from '../../payments/change-payment.ts'

export const createAnswer = ({ state, events }: ChangedPayment): ActivityAnswer => ({
  payment: toSnapshot(state),
  events,
})

/** Includes all untried events, because an earlier answer that named them might be lost. */
export const readAnswer = async (db: Queryable, paymentId: string): Promise<ActivityAnswer> =>
  createAnswer(await loadPaymentWithEvents(db, paymentId))
