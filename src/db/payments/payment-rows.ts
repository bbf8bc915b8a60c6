import { z } from 'zod'
import { CURRENCIES, type Currency } from '../../domain/currencies.ts'
import { type MethodName, PROVIDER_NAMES, type ProviderUsed, USED_PROVIDER_NAMES } from '../../domain/methods.ts'
import { PAYMENT_PAYOUTS } from '../../domain/payment/funds/funds.ts'
import type { Invoice } from '../../domain/payment/invoice.ts'
import { FAILURE_CODES, type FailureCode } from '../../domain/payment/partner.ts'
import { ATTEMPT_STATUSES, PAYMENT_STATUSES, type PaymentException } from '../../domain/payment/payment.ts'
import {
  type Attempt,
  type LockedRate,
  MISFITS,
  type Payment,
  type StoredSale,
} from '../../domain/payment/payment-object.ts'

export const time = z.date().transform((value) => value.toISOString())
export const currency = z.enum(CURRENCIES as [Currency, ...Currency[]])
const quote = z.object({ rate: z.string(), rateSource: z.string(), netMicro: z.string(), expiresAt: z.string() })

const storedPayment = z.object({
  id: z.string(),
  merchant_id: z.string(),
  livemode: z.boolean(),
  status: z.enum(PAYMENT_STATUSES),
  status_reason: z.string().nullable(),
  exception: z.custom<PaymentException>().nullable(),
  held: z.boolean(),
  closed_as: z.enum(['expired', 'canceled', 'failed']).nullable(),
  payout: z.enum(PAYMENT_PAYOUTS),
  stopped_for: z.string().nullable(),
  stuck: z.string().nullable(),
  converting_since: time.nullable(),
  reviews: z.array(z.object({ reason: z.string(), attemptId: z.string().nullable(), text: z.string() })),
  review_since: time.nullable(),
  expiry_postponed: z.boolean(),
  expiry_extended: z.boolean(),
  listen_ended: z.boolean(),
  amount_text: z.string(),
  amount_minor: z.string(),
  currency,
  provider: z.enum(PROVIDER_NAMES).nullable(),
  provider_used: z.custom<ProviderUsed>().nullable(),
  method_used: z.custom<MethodName>().nullable(),
  fallback: z.enum(['picker', 'none']),
  description: z.string().nullable(),
  reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  invoice: z.custom<Invoice>().nullable(),
  success_url: z.string().nullable(),
  cancel_url: z.string().nullable(),
  checkout_token: z.string(),
  payment_link: z.string().nullable(),
  tolerance_percent: z.number(),
  fill_tolerance_percent: z.number(),
  fee_percent: z.string(),
  reserve_percent: z.string().nullable(),
  reserve_days: z.number().nullable(),
  reserved_micro: z.string(),
  reserve_released_micro: z.string(),
  reserve_release_id: z.string().nullable(),
  deducted_micro: z.string(),
  deducted_for: z.string().nullable(),
  deduction_release_id: z.string().nullable(),
  destination: z.string(),
  chain_id: z.number(),
  token: z.string(),
  quote,
  paid_attempt_id: z.string().nullable(),
  charge_currency: currency.nullable(),
  confirmed_minor: z.string().nullable(),
  rate: z.string().nullable(),
  rate_source: z.string().nullable(),
  rate_locked_at: time.nullable(),
  agreed: z.string().nullable(),
  taken_sale: z.number().nullable(),
  gross_micro: z.string().nullable(),
  fee_micro: z.string().nullable(),
  net_micro: z.string().nullable(),
  tx_hash: z.string().nullable(),
  log_index: z.number().nullable(),
  block_number: z.string().nullable(),
  finalized_at: time.nullable(),
  paid_micro: z.string().nullable(),
  delayed_at: time.nullable(),
  created_at: time,
  updated_at: time,
  expires_at: time,
  paid_at: time.nullable(),
  succeeded_at: time.nullable(),
  failed_at: time.nullable(),
  canceled_at: time.nullable(),
  closed_at: time.nullable(),
  lost_minor: z.string(),
  refunds_minor: z.string(),
  refunds_count: z.number(),
  version: z.number(),
})

export const paymentRow = storedPayment.transform(toPayment)

function toPayment(row: z.output<typeof storedPayment>): Payment {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    livemode: row.livemode,
    status: row.status,
    statusReason: row.status_reason,
    exception: row.exception,
    held: row.held,
    closedAs: row.closed_as,
    payout: row.payout,
    stoppedFor: row.stopped_for,
    stuck: row.stuck,
    convertingSince: row.converting_since,
    reviews: row.reviews,
    reviewSince: row.review_since,
    expiryPostponed: row.expiry_postponed,
    expiryExtended: row.expiry_extended,
    listenEnded: row.listen_ended,
    amountText: row.amount_text,
    amount: { minor: row.amount_minor, currency: row.currency },
    provider: row.provider,
    providerUsed: row.provider_used,
    methodUsed: row.method_used,
    fallback: row.fallback,
    description: row.description,
    reference: row.reference,
    metadata: row.metadata,
    invoice: row.invoice,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    checkoutToken: row.checkout_token,
    paymentLink: row.payment_link,
    tolerancePercent: row.tolerance_percent,
    fillTolerancePercent: row.fill_tolerance_percent,
    feePercent: row.fee_percent,
    ...toReserve(row),
    deduction: toDeduction(row),
    destination: row.destination,
    chainId: row.chain_id,
    token: row.token,
    quote: row.quote,
    paidAttemptId: row.paid_attempt_id,
    agreed: row.agreed,
    takenSale: row.taken_sale,
    paidMicro: row.paid_micro,
    delayedAt: row.delayed_at,
    ...toSettlement(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    succeededAt: row.succeeded_at,
    failedAt: row.failed_at,
    canceledAt: row.canceled_at,
    closedAt: row.closed_at,
    lostMinor: row.lost_minor,
    refundsMinor: row.refunds_minor,
    refundsCount: row.refunds_count,
    version: row.version,
  }
}

function toReserve(
  row: z.output<typeof storedPayment>,
): Pick<Payment, 'reserve' | 'reservedMicro' | 'reserveReleasedMicro' | 'reserveReleaseId'> {
  const { reserve_percent: percent, reserve_days: days } = row
  return {
    reserve: percent !== null && days !== null ? { percent, days } : null,
    reservedMicro: row.reserved_micro,
    reserveReleasedMicro: row.reserve_released_micro,
    reserveReleaseId: row.reserve_release_id,
  }
}

function toDeduction(row: z.output<typeof storedPayment>): Payment['deduction'] {
  const { deducted_for: refundId, deducted_micro: micro, deduction_release_id: releaseId } = row
  return refundId === null ? null : { refundId, micro, releaseId }
}

/** Groups the columns that are null together. */
function toSettlement(row: z.output<typeof storedPayment>): Pick<Payment, 'confirmed' | 'rate' | 'usdc' | 'transfer'> {
  const { charge_currency, confirmed_minor } = row
  const { gross_micro, fee_micro, net_micro, tx_hash, log_index, block_number, finalized_at } = row
  const confirmed =
    charge_currency !== null && confirmed_minor !== null ? { minor: confirmed_minor, currency: charge_currency } : null
  const usdc =
    gross_micro !== null && fee_micro !== null && net_micro !== null
      ? { gross: gross_micro, fee: fee_micro, net: net_micro }
      : null
  const transfer =
    tx_hash !== null && log_index !== null && block_number !== null && finalized_at !== null
      ? { txHash: tx_hash, logIndex: log_index, blockNumber: block_number, finalizedAt: finalized_at }
      : null
  return { confirmed, rate: lockedRate(row), usdc, transfer }
}

function lockedRate(row: {
  rate: string | null
  rate_source: string | null
  rate_locked_at: string | null
}): LockedRate | null {
  const { rate, rate_source: source, rate_locked_at: lockedAt } = row
  return rate !== null && source !== null && lockedAt !== null ? { rate, source, lockedAt } : null
}

const isoTime = z.coerce.date().transform((value) => value.toISOString())
const named = z.object({ minor: z.string(), currency: z.string() })

/** An attempt as a JSON row: times and amounts are text. */
const storedAttempt = z.object({
  id: z.string(),
  payment_id: z.string(),
  provider: z.enum(USED_PROVIDER_NAMES),
  method: z.custom<MethodName>(),
  status: z.enum(ATTEMPT_STATUSES),
  amount_minor: z.string(),
  currency,
  asked_micro: z.string().nullable(),
  held: z.string(),
  outside: z.string(),
  written_off: z.string(),
  refunded: z.string(),
  refunding: z.string(),
  misfit: z.object({ why: z.enum(MISFITS), status: z.string(), amount: named, received: named.nullable() }).nullable(),
  misfit_answer: z.enum(['none', 'accepted', 'dismissed']),
  back: z.enum(['no', 'wanted', 'asked']),
  returned: z.boolean(),
  refusals: z.number(),
  cancel_asked: z.boolean(),
  silent: z.boolean(),
  rate: z.string().nullable(),
  rate_source: z.string().nullable(),
  rate_locked_at: isoTime.nullable(),
  paid_at: isoTime.nullable(),
  confirmed_at: isoTime.nullable(),
  partner_reference: z.string().nullable(),
  partner_payments: z.array(z.string()),
  partner_disputes: z.array(z.string()),
  redirect_url: z.string().nullable(),
  intent_uri: z.string().nullable(),
  failure_code: z.enum(Object.keys(FAILURE_CODES) as [FailureCode, ...FailureCode[]]).nullable(),
  silent_after_hours: z.number(),
  revision: z.number(),
  created_at: isoTime,
  updated_at: isoTime,
})

export const attemptRow = storedAttempt.transform(toAttempt)

const units = z.string().transform(BigInt)
const saleRow = z
  .object({
    number: z.number(),
    attempt_id: z.string(),
    units,
    gross_micro: units,
    fill_micro: units.nullable(),
    reference: z.string().nullable(),
    state: z.enum(['asked', 'filled', 'ended']),
  })
  .transform(
    ({ attempt_id: accountId, gross_micro: gross, fill_micro: fill, ...row }): StoredSale => ({
      ...row,
      accountId,
      gross,
      fill,
    }),
  )

/** The attempts of a payment, each with its newest unread callback, and its sales, in one row. */
export const stateRow = z
  .object({
    attempts: z.array(storedAttempt.extend({ unread: z.string().nullable() })),
    sales: z.array(saleRow),
  })
  .transform(({ attempts, sales }) => ({
    attempts: attempts.map(toAttempt),
    sales,
    unread: new Map(attempts.flatMap(({ id, unread }) => (unread === null ? [] : [[id, unread] as const]))),
  }))

/** A payment with its attempts and sales, if one statement reads them all. */
export const wholePaymentRow = storedPayment
  .extend({ state: stateRow })
  .transform(({ state, ...row }) => ({ payment: toPayment(row), ...state }))

function toAttempt(row: z.output<typeof storedAttempt>): Attempt {
  return {
    id: row.id,
    paymentId: row.payment_id,
    provider: row.provider,
    method: row.method,
    status: row.status,
    asked: { minor: row.amount_minor, currency: row.currency },
    askedMicro: row.asked_micro,
    held: row.held,
    outside: row.outside,
    writtenOff: row.written_off,
    refunded: row.refunded,
    refunding: row.refunding,
    misfit: row.misfit,
    misfitAnswer: row.misfit_answer,
    back: row.back,
    returned: row.returned,
    refusals: row.refusals,
    cancelAsked: row.cancel_asked,
    silent: row.silent,
    rate: lockedRate(row),
    paidAt: row.paid_at,
    confirmedAt: row.confirmed_at,
    partnerReference: row.partner_reference,
    partnerPayments: row.partner_payments,
    partnerDisputes: row.partner_disputes,
    redirectUrl: row.redirect_url,
    intentUri: row.intent_uri,
    failureCode: row.failure_code,
    silentAfterHours: row.silent_after_hours,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
