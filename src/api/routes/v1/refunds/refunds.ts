import { z } from 'zod'
import type { Session, Tenant } from '../../../../db/db.ts'
import { listRefunds as listStoredRefunds, readRefund as readStoredRefund } from '../../../../db/refunds/refunds.ts'
import { isId, typeId } from '../../../../domain/ids.ts'
import { REFUND_STATUSES, type Refund } from '../../../../domain/refund/refund.ts'
import { renderRefund } from '../../../../domain/refund/refund-object.ts'
import { whyRefundNotCancelable } from '../../../../domain/refund/refund-step.ts'
import { CANCELED_REFUND, SIGNED_REFUND } from '../../../document/refund-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation, NOTHING } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { listAnswer, listSchema, pageQuery, readPage } from '../lists.ts'
import { loadPayment } from '../payments/payments.ts'
import type { RefundCreateDeps } from './refund-create.ts'
import { fundRefundBody, refundObject } from './refund-schemas.ts'

export const readRefund = defineOperation({
  name: 'readRefund',
  method: 'get',
  path: '/v1/refunds/{id}',
  tag: 'Refunds',
  summary: 'Read a refund',
  scope: 'payments:read',
  params: idPath,
  answers: { 200: refundObject },
  handle: async ({ caller, db, params }) => ({
    status: 200,
    body: renderRefund(await loadRefund(db, caller, params.id)),
  }),
})

const status = z.enum(REFUND_STATUSES).optional()

export const listRefunds = defineOperation({
  name: 'listRefunds',
  method: 'get',
  path: '/v1/refunds',
  tag: 'Refunds',
  summary: 'List refunds, newest first',
  scope: 'payments:read',
  query: z.strictObject({
    ...pageQuery('refund'),
    status,
    payment: z.string().regex(typeId('payment'), 'must be the id of a payment').optional(),
  }),
  answers: { 200: listSchema(refundObject) },
  handle: async ({ caller, db, query }) => {
    const { rows, hasMore } = await listStoredRefunds(db, caller, { filters: query, page: readPage(query) })
    return listAnswer(rows.map(renderRefund), hasMore)
  },
})

export const listPaymentRefunds = defineOperation({
  name: 'listPaymentRefunds',
  method: 'get',
  path: '/v1/payments/{id}/refunds',
  tag: 'Refunds',
  summary: 'List the refunds of a payment, newest first',
  scope: 'payments:read',
  params: idPath,
  query: z.strictObject({ ...pageQuery('refund'), status }),
  answers: { 200: listSchema(refundObject) },
  handle: async ({ caller, db, params, query }) => {
    const { payment } = await loadPayment(db, caller, params.id)
    const filters = { status: query.status, payment: payment.id }
    const { rows, hasMore } = await listStoredRefunds(db, caller, { filters, page: readPage(query) })
    return listAnswer(rows.map(renderRefund), hasMore)
  },
})

export const cancelRefund = defineOperation({
  name: 'cancelRefund',
  method: 'post',
  path: '/v1/refunds/{id}/cancel',
  audited: NOTHING,
  reachesOut: true,
  tag: 'Refunds',
  problems: ['not_possible_now', 'temporarily_unavailable'],
  summary: 'Cancel a refund before its USDC arrives',
  description: 'USDC that arrives later goes back to the wallet of the payment.',
  scope: 'payments:write',
  params: idPath,
  answers: { 200: refundObject },
  example: { answer: CANCELED_REFUND },
  handle: async ({ caller, db, params }, { refunds }: Pick<RefundCreateDeps, 'refunds'>) => {
    const before = await loadRefund(db, caller, params.id)
    refuseUnlessCancelable(before)
    const answer = before.status === 'canceled' ? before : await refunds.cancel(before.id)
    const after = await loadRefund(db, caller, params.id)
    refuseUnlessCancelable(after)
    if ('kind' in answer || after.status !== 'canceled')
      throw new Problem(
        'temporarily_unavailable',
        'The cancellation was not confirmed in time. Send the request again.',
        {
          headers: { 'retry-after': '2' },
        },
      )
    return { status: 200, body: renderRefund(after) }
  },
})

function refuseUnlessCancelable(refund: Refund): void {
  const why = whyRefundNotCancelable(refund.status)
  if (why !== null)
    throw new Problem('not_possible_now', `Too late to cancel: ${why}.`, { members: { refund_status: refund.status } })
}

/** One `resource_missing` (404) for malformed and unknown ids, and for refunds of other accounts. */
async function loadRefund(db: Session, tenant: Tenant, id: string): Promise<Refund> {
  const found = isId('refund', id) ? await readStoredRefund(db, tenant, id) : null
  if (found === null) throw new Problem('resource_missing', 'There is no such refund.')
  return found
}

export const fundRefund = defineOperation({
  name: 'fundRefund',
  method: 'post',
  path: '/v1/refunds/{id}/fund',
  audited: NOTHING,
  reachesOut: true,
  tag: 'Refunds',
  problems: ['not_possible_now', 'temporarily_unavailable'],
  summary: 'Pay for a refund with a signature of your wallet, without gas',
  description:
    'The wallet of the payment signs `funding.typed_data` (EIP-712). Pinrail sends the transfer and pays the gas. The token accepts a nonce once, so signing twice pays once.',
  scope: 'payments:write',
  params: idPath,
  body: fundRefundBody,
  answers: { 200: refundObject },
  example: { body: { signature: `0x${'5a'.repeat(65)}` }, answer: SIGNED_REFUND },
  handle: async ({ caller, db, params, body }, { refunds, clock }: Pick<RefundCreateDeps, 'refunds' | 'clock'>) => {
    const before = await loadRefund(db, caller, params.id)
    if (before.status !== 'awaiting_funds')
      throw new Problem('not_possible_now', `The refund is ${before.status}: it takes no USDC.`, {
        members: { refund_status: before.status },
      })
    if (before.fundFrom === 'next_payouts')
      throw new Problem('not_possible_now', 'The USDC is deducted from your next payouts: no wallet pays for it.')
    if (Date.parse(before.expiresAt) <= clock())
      throw new Problem('not_possible_now', 'The time to pay for the refund is over. Create another one.', {
        members: { refund_status: before.status },
      })
    const answer = await refunds.fund(before.id, body.signature)
    const after = await loadRefund(db, caller, params.id)
    if ('kind' in answer || after.signedAt === null)
      throw new Problem('temporarily_unavailable', 'The signature was not taken in time. Send the request again.', {
        headers: { 'retry-after': '2' },
      })
    return { status: 200, body: renderRefund(after) }
  },
})
