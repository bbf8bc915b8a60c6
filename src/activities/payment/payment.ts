import { guarded } from '../failure.ts'
import { readAnswer } from './answer.ts'
import { decide } from './decision.ts'
import { giveBack } from './give-back.ts'
import { openPartnerOrder } from './open-order.ts'
import { closeUnpaid, readPartnerOrder } from './partner-orders.ts'
import { markPassedTime } from './passed-time.ts'
import type { PaymentDeps } from './payment-deps.ts'
import { settle } from './settle.ts'

/** Every call of a payment's workflow to the outside. Each writes its record in the transaction of its effect. */
export type PaymentActivities = ReturnType<typeof createPaymentActivities>

export function createPaymentActivities(deps: PaymentDeps) {
  const activity = <Argument, Result>(work: (deps: PaymentDeps, argument: Argument) => Promise<Result>) =>
    guarded((argument: Argument) => work(deps, argument))
  return {
    openPartnerOrder: activity(openPartnerOrder),
    readPartnerOrder: activity(readPartnerOrder),
    closeUnpaid: activity(closeUnpaid),
    settle: activity(settle),
    loadPayment: activity(({ db }, paymentId: string) => readAnswer(db, paymentId)),
    markPassedTime: activity(markPassedTime),
    decide: activity(decide),
    giveBack: activity(giveBack),
  }
}
