import type { Session, Tenant } from '../../../../db/db.ts'
import { changePaymentWords } from '../../../../db/payments/payment-words.ts'
import { readPayment as readStoredPayment } from '../../../../db/payments/payments.ts'
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
import { defineOperation, NOTHING, WHOLE } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { paymentObject, updatePaymentBody } from './payment-schemas.ts'

export type PaymentOperationDeps = {
  readonly workflows: Pick<PaymentWorkflows, 'cancel'>
  readonly publicUrl: string
}

export type PaymentUpdateDeps = { readonly publicUrl: string; readonly clock: () => number }

export const readPayment = defineOperation({
  name: 'readPayment',
  method: 'get',
  path: '/v1/payments/{id}',
  tag: 'Payments',
  summary: 'Read a payment',
  scope: 'payments:read',
  params: idPath,
  answers: { 200: paymentObject },
  handle: async ({ caller, db, params }, { publicUrl }: Pick<PaymentOperationDeps, 'publicUrl'>) => ({
    status: 200,
    body: render(await loadPayment(db, caller, params.id), publicUrl),
  }),
})

export const updatePayment = defineOperation({
  name: 'updatePayment',
  method: 'patch',
  path: '/v1/payments/{id}',
  audited: WHOLE,
  tag: 'Payments',
  summary: 'Change the reference, the metadata or the description',
  description:
    'A field that is absent stays as it is, and null removes it; `metadata` replaces all keys. The description can change while the payment is `created` or `pending`, because the receipt shows it.',
  scope: 'payments:write',
  params: idPath,
  body: updatePaymentBody,
  answers: { 200: paymentObject },
  problems: ['not_possible_now'],
  example: { body: { reference: 'order-1042', metadata: { cart: '77', parcel: 'JD0146' } } },
  handle: async ({ caller, db, params, body }, { publicUrl, clock }: PaymentUpdateDeps) => {
    const at = new Date(clock()).toISOString()
    const isChanged = await changePaymentWords(db, caller, { id: params.id, words: body, at })
    const state = await loadPayment(db, caller, params.id)
    if (!isChanged)
      throw new Problem(
        'not_possible_now',
        `The description is fixed, because the payment is ${state.payment.status}. Change the reference or the metadata.`,
      )
    return { status: 200, body: render(state, publicUrl) }
  },
})

export const cancelPayment = defineOperation({
  name: 'cancelPayment',
  method: 'post',
  path: '/v1/payments/{id}/cancel',
  audited: NOTHING,
  reachesOut: true,
  tag: 'Payments',
  problems: ['payment_not_cancelable', 'temporarily_unavailable'],
  summary: 'Cancel a payment before any money arrives',
  scope: 'payments:write',
  params: idPath,
  answers: { 200: paymentObject },
  example: { answer: CANCELED_PAYMENT },
  handle: async ({ caller, db, params }, { workflows, publicUrl }: PaymentOperationDeps) => {
    const before = await loadPayment(db, caller, params.id)
    if (before.payment.status === 'canceled') return { status: 200, body: render(before, publicUrl) }
    refuseUnlessCancelable(before)
    const answer = await workflows.cancel(before.payment.id)
    if ('kind' in answer) throw unconfirmed()
    const after = await loadPayment(db, caller, params.id)
    if (after.payment.status === 'canceled') return { status: 200, body: render(after, publicUrl) }
    refuseUnlessCancelable(after)
    // The state that prevented the cancellation has changed since.
    throw unconfirmed()
  },
})

const render = ({ payment, attempts }: PaymentWithAttempts, publicUrl: string): PaymentObject =>
  renderPayment(payment, attempts, publicUrl)

/** One `resource_missing` (404) for malformed and unknown ids, and for payments of other accounts. */
export async function loadPayment(db: Session, tenant: Tenant, id: string): Promise<PaymentWithAttempts> {
  const found = isId('payment', id) ? await readStoredPayment(db, tenant, id) : null
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
