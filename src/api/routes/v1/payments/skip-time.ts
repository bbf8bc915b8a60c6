import { z } from 'zod'
import type { Db, Session, Tenant } from '../../../../db/db.ts'
import { readPayment } from '../../../../db/payments/payments.ts'
import { listRetries, moveIntoPast } from '../../../../db/test-mode/clock.ts'
import { isId } from '../../../../domain/ids.ts'
import type { PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import type { SkipDeliveryTime } from '../../../../temporal/deliveries.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { paymentObject } from './payment-schemas.ts'
import { answerPayment } from './shown-payments.ts'

export type SkipTimeDeps = {
  /** As the owner of the tables: a merchant's request must not change a payment. */
  readonly db: Db
  readonly publicUrl: string
  readonly workflows: Pick<PaymentWorkflows, 'signalRowChanged'>
  /** Null in live mode, which never skips time. */
  readonly skipDeliveryTime: SkipDeliveryTime | null
}

/** The longest time that a payment is open and its late money is awaited. */
const MOST_SECONDS = 30 * 86_400

export const skipTime = defineOperation({
  name: 'skipTime',
  method: 'post',
  path: '/v1/test/payments/{id}/skip_time',
  tag: 'Test mode',
  summary: 'Advance the time of a test payment',
  description:
    'Moves the times of the payment into the past. Everything that was due in that time happens now: it expires, waiting for late money ends, webhooks are retried. The payment follows a moment later.',
  scope: 'payments:write',
  params: idPath,
  body: z.strictObject({
    seconds: z.int().min(1).max(MOST_SECONDS).meta({ description: 'At most 30 days.' }),
  }),
  answers: { 202: paymentObject },
  problems: ['temporarily_unavailable'],
  example: { body: { seconds: 86_400 } },
  handle: async ({ caller, db, params: { id }, body: { seconds } }, deps: SkipTimeDeps) => {
    await loadTestPayment(db, caller, id)
    await skipPaymentTime(deps, id, seconds)
    const after = await loadTestPayment(db, caller, id)
    return { ...(await answerPayment({ db, tenant: caller, publicUrl: deps.publicUrl }, after)), status: 202 }
  },
})

/** The caller must have checked that the payment belongs to the merchant. Throws in live mode. */
export async function skipPaymentTime(deps: SkipTimeDeps, paymentId: string, seconds: number): Promise<void> {
  const { db, workflows, skipDeliveryTime } = deps
  if (skipDeliveryTime === null) throw missing()
  await db.transaction((tx) => moveIntoPast(tx, { paymentId, seconds }))
  await workflows.signalRowChanged(paymentId)
  for (const retry of await listRetries(db, paymentId)) await skipDeliveryTime({ ...retry, ms: seconds * 1000 })
}

export async function loadTestPayment(db: Session, tenant: Tenant, id: string): Promise<PaymentWithAttempts> {
  const found = isId('payment', id) && !tenant.livemode ? await readPayment(db, tenant, id) : null
  if (found === null) throw missing()
  return found
}

export function missing(): Problem {
  return new Problem('resource_missing', 'There is no such test payment.')
}
