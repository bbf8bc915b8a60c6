import { guarded } from './failure.ts'
import { createOperatorActivities, type OperatorActivities } from './operator.ts'
import { createOrderActivities, type OrderActivities } from './partner-orders.ts'
import type { PaymentDeps } from './payment-deps.ts'
import { createSettlementActivities, type SettlementActivities } from './settlement.ts'

/** Everything a payment's workflow may ask of the world. Each writes its record in the transaction of its effect. */
export type PaymentActivities = OrderActivities & SettlementActivities & OperatorActivities

export function createPaymentActivities(deps: PaymentDeps): PaymentActivities {
  const orders = createOrderActivities(deps)
  const settlement = createSettlementActivities(deps)
  const operator = createOperatorActivities(deps)
  return {
    openPartnerOrder: guarded(orders.openPartnerOrder),
    readPartnerOrder: guarded(orders.readPartnerOrder),
    closeUnpaid: guarded(orders.closeUnpaid),
    convertToUsdc: guarded(settlement.convertToUsdc),
    transferUsdc: guarded(settlement.transferUsdc),
    loadPayment: guarded(operator.loadPayment),
    markDelayed: guarded(operator.markDelayed),
    decide: guarded(operator.decide),
    refundAttempt: guarded(operator.refundAttempt),
  }
}
