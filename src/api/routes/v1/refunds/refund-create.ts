import type { Session } from '../../../../db/db.ts'
import { insertRefund, readRequestedRefund, readRefund as readStoredRefund } from '../../../../db/refunds/refunds.ts'
import type { Currency } from '../../../../domain/currencies.ts'
import { convertToMicroUsdcUp, formatAmount, type Money, parseAmount } from '../../../../domain/money.ts'
import type { PaymentStatus } from '../../../../domain/payment/payment.ts'
import { countRefundable, type Payment, type PaymentWithAttempts } from '../../../../domain/payment/payment-object.ts'
import { MAX_REFUNDS, REFUND_FUNDING_MS, type Refund } from '../../../../domain/refund/refund.ts'
import { renderRefund } from '../../../../domain/refund/refund-object.ts'
import type { RefundWorkflows } from '../../../../temporal/refunds.ts'
import type { Caller } from '../../../auth/auth.ts'
import { REFUND } from '../../../document/refund-examples.ts'
import { Problem } from '../../../http/problems.ts'
import { defineOperation } from '../../../operation.ts'
import { amountProblem, currentRate, type RateBook } from '../../prices.ts'
import { idPath } from '../fields.ts'
import { loadPayment } from '../payments/payments.ts'
import { type CreateRefundBody, createRefundBody, refundObject } from './refund-schemas.ts'

export type RefundCreateDeps = {
  readonly refunds: RefundWorkflows
  readonly rates: RateBook
  readonly clock: () => number
  readonly newRefundId: () => string
}

export const createRefund = defineOperation({
  name: 'createRefund',
  method: 'post',
  path: '/v1/payments/{id}/refunds',
  tag: 'Refunds',
  summary: 'Refund a settled payment, in whole or in part',
  description:
    'The amount is in the currency that the partner charged (`settlement.confirmed`); without one, all that is left is refunded. You pay for the refund in USDC at `funding.address`, at a rate that is locked until `funding.expires_at`. When the USDC is final, the buyer gets the money back through the partner. If the partner refuses, the USDC goes back to the wallet of the payment. The fee of the payment is not given back.',
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
  { rates, clock, newRefundId }: RefundCreateDeps,
  { db, caller, request }: Asked,
  { state, body }: Wanted,
): Promise<Refund> {
  const { payment } = state
  const { attemptId, currency } = requireRefundable(payment)
  const amount = readAmount(payment, currency, body.amount)
  const { rate, source } = await currentRate(rates, currency)
  const now = clock()
  const refund = await insertRefund(db, caller, {
    id: newRefundId(),
    paymentId: payment.id,
    attemptId,
    amount,
    reason: body.reason ?? null,
    metadata: body.metadata ?? null,
    rate,
    rateSource: source,
    requiredMicro: convertToMicroUsdcUp(amount, rate),
    request,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + REFUND_FUNDING_MS).toISOString(),
  })
  if (refund !== null) return refund
  // Another refund, or a chargeback, was faster than this request.
  const { payment: changed } = await loadPayment(db, caller, payment.id)
  requireRefundable(changed)
  throw tooLarge(changed, amount)
}

/** The database checks the same once more, at the moment of the creation. */
function requireRefundable(payment: Payment): { readonly attemptId: string; readonly currency: Currency } {
  const { payout, status, providerUsed, confirmed, paidAttemptId, refundsCount } = payment
  if (providerUsed === 'crypto')
    throw new Problem(
      'not_possible_now',
      'The buyer paid in USDC, possibly from a wallet that an exchange shares. Ask the buyer for an address, and send the USDC there yourself.',
    )
  if (payout !== 'paid' || confirmed === null || paidAttemptId === null)
    throw new Problem('not_possible_now', describeUnsettled(status))
  if (refundsCount >= MAX_REFUNDS)
    throw new Problem('limit_reached', `A payment can have ${MAX_REFUNDS} refunds, and this one has them.`)
  return { attemptId: paidAttemptId, currency: confirmed.currency }
}

function describeUnsettled(status: PaymentStatus): string {
  switch (status) {
    case 'created':
    case 'pending':
      return `The payment is ${status}: there is nothing to refund. To have it not paid, cancel it.`
    case 'refunded':
      return 'The payment was refunded before it was settled.'
    case 'failed':
    case 'expired':
    case 'canceled':
      return `The payment is ${status}: there is nothing to refund.`
    case 'processing':
    case 'settling':
    case 'under_review':
    case 'succeeded':
      return `The payment is ${status}, and is not settled yet. Refund it when it is: wait for payment.succeeded. Until then only the operator of the platform can give the money back, without a fee: ask for that at once.`
  }
}

function readAmount(payment: Payment, currency: Currency, text: string | undefined): Money {
  const left: Money = { minor: countRefundable(payment), currency }
  if (text === undefined) {
    if (left.minor !== '0') return left
    throw tooLarge(payment, left)
  }
  const parsed = parseAmount(text, currency)
  if (!parsed.ok) throw amountProblem(parsed.problem, currency)
  if (BigInt(parsed.money.minor) > BigInt(left.minor)) throw tooLarge(payment, parsed.money)
  return parsed.money
}

function tooLarge(payment: Payment, { currency }: Money): Problem {
  const left = formatAmount({ minor: countRefundable(payment), currency })
  return new Problem('amount_too_large', `amount: ${left} ${currency} of the payment can still be refunded.`, {
    param: 'amount',
    members: { maximum: left, currency },
  })
}
