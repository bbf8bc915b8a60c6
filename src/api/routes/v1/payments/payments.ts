import type { Session, Tenant } from '../../../../db/db.ts'
import { setCustomerEmail } from '../../../../db/payments/buyers.ts'
import { changePaymentWords } from '../../../../db/payments/payment-words.ts'
import { readPayment as readStoredPayment } from '../../../../db/payments/payments.ts'
import { hideEmails } from '../../../../domain/account/email.ts'
import { isId } from '../../../../domain/ids.ts'
import type { PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import { toSnapshot, whyNotCancelable } from '../../../../domain/payment/snapshot.ts'
import type { PaymentWorkflows } from '../../../../temporal/payments.ts'
import { CANCELED_PAYMENT } from '../../../document/examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation, NOTHING } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { paymentObject, type UpdatePaymentBody, updatePaymentBody } from './payment-schemas.ts'
import { answerPayment } from './shown-payments.ts'

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
  handle: async ({ caller, db, params }, { publicUrl }: Pick<PaymentOperationDeps, 'publicUrl'>) =>
    answerPayment({ db, tenant: caller, publicUrl }, await loadPayment(db, caller, params.id)),
})

export const updatePayment = defineOperation({
  name: 'updatePayment',
  method: 'patch',
  path: '/v1/payments/{id}',
  audited: (body: UpdatePaymentBody) => hideEmails(body),
  tag: 'Payments',
  summary: 'Change the reference, the metadata, the description or the buyer’s e-mail address',
  description:
    'A field that is absent stays as it is, and null removes it; `metadata` replaces all keys. The description can change while the payment is `created` or `pending`, because the receipt shows it. `customer_email` as null deletes the address, also one that the buyer typed.',
  scope: 'payments:write',
  params: idPath,
  body: updatePaymentBody,
  answers: { 200: paymentObject },
  problems: ['not_possible_now'],
  example: { body: { reference: 'order-1042', metadata: { cart: '77', parcel: 'JD0146' } } },
  handle: async ({ caller, db, params, body }, { publicUrl, clock }: PaymentUpdateDeps) => {
    const at = new Date(clock()).toISOString()
    const { customer_email: email, ...words } = body
    const isChanged = await db.transaction(async (tx) => {
      if (!isId('payment', params.id)) return false
      if (!(await changePaymentWords(tx, caller, { id: params.id, words, at }))) return false
      if (email !== undefined) await setCustomerEmail(tx, caller, { paymentId: params.id, email, at })
      return true
    })
    const state = await loadPayment(db, caller, params.id)
    if (!isChanged)
      throw new Problem(
        'not_possible_now',
        `The description is fixed, because the payment is ${state.payment.status}. Change the reference or the metadata.`,
      )
    return answerPayment({ db, tenant: caller, publicUrl }, state)
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
    const at = { db, tenant: caller, publicUrl }
    const before = await loadPayment(db, caller, params.id)
    if (before.payment.status === 'canceled') return answerPayment(at, before)
    refuseUnlessCancelable(before)
    const answer = await workflows.cancel(before.payment.id)
    if ('kind' in answer) throw unconfirmed()
    const after = await loadPayment(db, caller, params.id)
    if (after.payment.status === 'canceled') return answerPayment(at, after)
    refuseUnlessCancelable(after)
    // The state that prevented the cancellation has changed since.
    throw unconfirmed()
  },
})

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
