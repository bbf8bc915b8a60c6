import type { Session } from '../../../../db/db.ts'
import { readDeductionLimit } from '../../../../db/refunds/deductions.ts'
import { insertRefund, readRequestedRefund, readRefund as readStoredRefund } from '../../../../db/refunds/refunds.ts'
import { formatAmount, parseAmount } from '../../../../domain/money.ts'
import { countRefundable, type PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import type { Refund } from '../../../../domain/refund/refund.ts'
import { renderRefund } from '../../../../domain/refund/refund-object.ts'
import type { RefundWorkflows } from '../../../../temporal/refunds.ts'
import type { Caller } from '../../../auth/auth.ts'
import { REFUND } from '../../../document/refund-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { idPath } from '../fields.ts'
import { loadPayment } from '../payments/payments.ts'
import { beyondLimit, planRefund, type RefundPlanDeps, requireRefundable, tooLarge } from './refund-plan.ts'
import { type CreateRefundBody, createRefundBody, refundObject } from './refund-schemas.ts'

export type RefundCreateDeps = RefundPlanDeps & {
  readonly refunds: RefundWorkflows
  readonly newRefundId: () => string
}

export const createRefund = defineOperation({
  name: 'createRefund',
  method: 'post',
  path: '/v1/payments/{id}/refunds',
  tag: 'Refunds',
  summary: 'Refund a payment, after the settlement also in part',
  description:
    'The amount is in the currency that the partner charged (`settlement.confirmed`); without one, all that is left is refunded. You pay for the refund in USDC at `funding.address`, at a rate that is locked until `funding.expires_at`. When the USDC is final, the buyer gets the money back through the partner. If the partner refuses, the USDC goes back to the wallet of the payment. With `fund_from: next_payouts` the USDC is deducted from your next payouts instead, if an owner of the account allows it. The fee of the payment is not given back. Before the settlement the whole payment goes back through the partner, without a fee and without USDC: `fund_from` is `payment`, and `funding` is null.',
  scope: 'payments:write',
  audited: (body: CreateRefundBody) => ({ amount: body.amount ?? 'all' }),
  reachesOut: true,
  params: idPath,
  body: createRefundBody,
  answers: { 201: refundObject },
  problems: ['amount_too_large', 'not_possible_now', 'limit_reached', 'temporarily_unavailable'],
  example: { body: { amount: 20, reason: 'One ticket was returned', metadata: { ticket: '2' } }, answer: REFUND },
  handle: async ({ caller, db, params, body, claim }, deps: RefundCreateDeps) => {
    const state = await loadPayment(db, caller, params.id)
    const asked = { db, caller, request: claim?.key ?? null }
    const refund = (await findMade(asked, { state, body })) ?? (await create(deps, asked, { state, body }))
    // Without an answer in time the relay wakes the workflow, and `funding.address` is read later.
    await deps.refunds.open(refund.id).catch(() => undefined)
    const opened = await readStoredRefund(db, caller, refund.id)
    return { status: 201, body: renderRefund(opened ?? refund), headers: { location: `/v1/refunds/${refund.id}` } }
  },
})

type Asked = { readonly db: Session; readonly caller: Caller; readonly request: string | null }
type Wanted = { readonly state: PaymentWithAttempts; readonly body: CreateRefundBody }

/** Returns the refund that the same request has made, if its process died before the answer was stored. */
async function findMade({ db, caller, request }: Asked, { state, body }: Wanted): Promise<Refund | null> {
  const paymentId = state.payment.id
  const made = request === null ? null : await readRequestedRefund(db, caller, { paymentId, request })
  if (made === null || body.amount === undefined) return made
  const parsed = parseAmount(body.amount, made.amount.currency)
  if (parsed.ok && parsed.money.minor === made.amount.minor) return made
  throw new Problem(
    'idempotency_key_reused',
    `This Idempotency-Key was already used for a refund of ${formatAmount(made.amount)} ${made.amount.currency}. Use a new key.`,
    { param: 'Idempotency-Key' },
  )
}

async function create(
  deps: RefundCreateDeps,
  { db, caller, request }: Asked,
  { state, body }: Wanted,
): Promise<Refund> {
  const { id: paymentId, version: paymentVersion } = state.payment
  const plan = await planRefund(deps, state, body)
  const refund = await insertRefund(db, caller, {
    ...plan,
    id: deps.newRefundId(),
    paymentId,
    paymentVersion,
    reason: body.reason ?? null,
    metadata: body.metadata ?? null,
    request,
  })
  if (refund === 'beyond_limit') throw beyondLimit(await readDeductionLimit(db, caller.merchantId))
  if (refund !== 'too_much') return refund
  // Another refund, a chargeback or the settlement was faster than this request.
  const changed = await loadPayment(db, caller, paymentId)
  requireRefundable(changed)
  if (plan.fundFrom !== 'payment') throw tooLarge(plan.amount.currency, countRefundable(changed.payment))
  throw new Problem(
    'temporarily_unavailable',
    'The payment has changed, or its money is going back already. Read it, and send the request again.',
    { headers: { 'retry-after': '2' } },
  )
}
