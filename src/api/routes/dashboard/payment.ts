import { listDisputes } from '../../../db/disputes/disputes.ts'
import { readCustomers } from '../../../db/payments/buyers.ts'
import { readGivenBack } from '../../../db/payments/give-backs.ts'
import { readPayment } from '../../../db/payments/payments.ts'
import { readTimeline } from '../../../db/payments/timeline.ts'
import { listRefunds } from '../../../db/refunds/refunds.ts'
import { listEndpoints } from '../../../db/webhooks/webhook-endpoints.ts'
import { hasAbility } from '../../../domain/account/roles.ts'
import { isId } from '../../../domain/ids.ts'
import type { PaymentWithAttempts } from '../../../domain/payment/payment-object.ts'
import { toSnapshot, whyNotCancelable } from '../../../domain/payment/snapshot.ts'
import { MAX_REFUNDS } from '../../../domain/refund/refund.ts'
import { findRefundable } from '../../../domain/refund/refundable.ts'
import { getAmounts } from '../../../web/checkout/amounts.ts'
import { renderPaymentPage } from '../../../web/dashboard/payment/payment.tsx'
import { GROUPS, type Group } from '../../../web/dashboard/payment/timeline.tsx'
import { catchRefusal, Problem } from '../../http/problems.ts'
import { SiteProblem } from '../site-problem.ts'
import { cancelPayment, type PaymentOperationDeps } from '../v1/payments/payments.ts'
import { runOperation } from './operations.ts'
import { definePage, type Page, type PageCall } from './page.ts'

/** The API lists all entries. */
const MOST_ENTRIES = 1000
const MOST_DISPUTES = 50

export type PaymentPageDeps = PaymentOperationDeps & { readonly clock: () => number }

export function paymentPages(deps: PaymentPageDeps): Page[] {
  return [
    definePage({
      method: 'get',
      path: '/dashboard/payments/:id',
      needs: 'look',
      handle: async (call) => ({ html: await show(deps, call, null) }),
    }),
    definePage({
      method: 'post',
      path: '/dashboard/payments/:id/cancel',
      needs: 'sell',
      handle: async (call) => {
        // Checked before the audit log is written, because its entries cannot be removed.
        const { id } = (await findPayment(call)).payment
        const canceled = await catchRefusal(runOperation(deps, call, { operation: cancelPayment, params: { id } }))
        if (canceled instanceof Problem) return { status: 409, html: await show(deps, call, canceled.message) }
        return { to: `/dashboard/payments/${id}`, done: 'payment_canceled' }
      },
    }),
  ]
}

/** Throws not_found for malformed and unknown ids, and for payments of other accounts. */
export async function findPayment({ db, tenant, params }: PageCall): Promise<PaymentWithAttempts> {
  const id = params['id'] ?? ''
  const found = isId('payment', id) ? await readPayment(db, tenant, id) : null
  if (found === null) throw new SiteProblem('not_found')
  return found
}

async function show({ publicUrl, clock }: PaymentPageDeps, call: PageCall, problem: string | null): Promise<string> {
  const { db, tenant, query, role } = call
  const found = await findPayment(call)
  const { payment, attempts } = found
  const { id } = payment
  const endpoints = await listEndpoints(db, tenant)
  const page = { limit: MOST_ENTRIES, after: null, before: null }
  const timeline = await readTimeline(db, tenant, { paymentId: id, page, reader: 'merchant' })
  const refunds = await listRefunds(db, tenant, {
    filters: { payment: id },
    page: { limit: MAX_REFUNDS, after: null, before: null },
  })
  const disputes = await listDisputes(db, tenant, {
    filters: { payment: id },
    page: { limit: MOST_DISPUTES, after: null, before: null },
  })
  return renderPaymentPage({
    frame: call.frame,
    payment,
    customer: (await readCustomers(db, tenant, [id])).get(id),
    attempts,
    amounts: getAmounts({ ...found, givenBack: await readGivenBack(db, found.attempts) }),
    endpoints: new Map(endpoints.map(({ id, url }) => [id, new URL(url).host])),
    timeline: timeline.rows,
    show: (Object.keys(GROUPS) as Group[]).find((group) => group === query['show']) ?? 'all',
    cancelable:
      hasAbility(role, 'sell') && payment.status !== 'canceled' && whyNotCancelable(toSnapshot(found)) === null,
    now: new Date(clock()).toISOString(),
    disputes: disputes.rows,
    refunds: refunds.rows,
    refundable: hasAbility(role, 'sell') && findRefundable(found) !== null,
    problem,
    publicUrl,
  })
}
