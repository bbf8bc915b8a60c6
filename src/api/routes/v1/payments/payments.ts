import type { Session, Tenant } from '../../../../db/db.ts'
import { readPayment } from '../../../../db/payments/payments.ts'
import { isId } from '../../../../domain/ids.ts'
import {
  type PaymentObject,
  type PaymentWithAttempts,
  renderPayment,
} from '../../../../domain/payment/payment-object.ts'
import { toSnapshot, whyNotCancelable } from '../../../../domain/payment/snapshot.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { CANCELED_PAYMENT } from '../../../document/examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineRoute, NOTHING, type Route } from '../../../route.ts'
import { idPath } from '../fields.ts'
import { paymentObject } from './payment-schemas.ts'
import { receiptRoute } from './receipt.ts'

export type PaymentRouteDeps = {
  readonly workflows: Pick<PaymentWorkflows, 'cancel'>
  readonly publicUrl: string
}

export function paymentRoutes(deps: PaymentRouteDeps): Route[] {
  const { publicUrl } = deps

  const read = defineRoute({
    method: 'get',
    path: '/v1/payments/{id}',
    operationId: 'readPayment',
    tag: 'Payments',
    summary: 'Read a payment',
    scope: 'payments:read',
    params: idPath,
    answers: { 200: paymentObject },
    handle: async ({ caller, db, params }) => ({ status: 200, body: await find(db, caller, params) }),
  })

  const cancel = defineRoute({
    method: 'post',
    path: '/v1/payments/{id}/cancel',
    operationId: 'cancelPayment',
    audited: NOTHING,
    reachesOut: true,
    tag: 'Payments',
    problems: ['payment_not_cancelable', 'temporarily_unavailable'],
    summary: 'Cancel a payment before any money arrives',
    scope: 'payments:write',
    params: idPath,
    answers: { 200: paymentObject },
    example: { answer: CANCELED_PAYMENT },
    handle: async ({ caller, db, params }) => {
      const before = await load(db, caller, params)
      if (before.payment.status === 'canceled') return { status: 200, body: render(before) }
      refuseUnlessCancelable(before)
      const answer = await deps.workflows.cancel(before.payment.id)
      if ('kind' in answer) throw unconfirmed()
      const after = await load(db, caller, params)
      if (after.payment.status === 'canceled') return { status: 200, body: render(after) }
      refuseUnlessCancelable(after)
      // The state that prevented the cancellation has changed since.
      throw unconfirmed()
    },
  })

  return [read, cancel, receiptRoute(find)]

  async function find(db: Session, caller: Tenant, params: { id: string }): Promise<PaymentObject> {
    return render(await load(db, caller, params))
  }

  function render({ payment, attempts }: PaymentWithAttempts): PaymentObject {
    return renderPayment(payment, attempts, publicUrl)
  }
}

async function load(db: Session, caller: Tenant, { id }: { id: string }): Promise<PaymentWithAttempts> {
  const found = isId('payment', id) ? await readPayment(db, caller, id) : null
  if (found === null) throw new Problem('resource_missing', 'There is no such payment.')
  return found
}

/** Reads all facts about the money: the object of the API does not show a part of the price. */
function refuseUnlessCancelable(state: PaymentWithAttempts): void {
  const why = whyNotCancelable(toSnapshot(state))
  if (why !== null)
    throw new Problem('payment_not_cancelable', `Too late to cancel: ${why}.`, {
      members: { payment_status: state.payment.status },
    })
}

function unconfirmed(): Problem {
  return new Problem('temporarily_unavailable', 'The cancellation was not confirmed in time. Send the request again.', {
    headers: { 'retry-after': '2' },
  })
}
