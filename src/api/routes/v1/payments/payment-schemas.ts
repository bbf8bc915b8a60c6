import { z } from 'zod'
import { type Currency, isCurrency } from '../../../../domain/currencies.ts'
import { PROVIDER_NAMES, USED_PROVIDER_NAMES } from '../../../../domain/methods.ts'
import { parseAmount } from '../../../../domain/money.ts'
import { PAYMENT_STATUSES } from '../../../../domain/payment/payment.ts'
import { isSafeText, storedReference } from '../../../../domain/text.ts'
import { PAYMENT } from '../../../document/examples.ts'
import {
  amountsByCurrency,
  amountText,
  characters,
  currency,
  currencyCode,
  decimalsAllowed,
  emailAddress,
  moment,
  referenceText,
  safeText,
  textAsSent,
  usdcAmount,
} from '../fields.ts'
import { extendJsonSchema, RETURN_URL, textPattern } from '../patterns.ts'
import { findItemsProblem, invoiceBody, invoiceObject } from './invoice-schemas.ts'

export const url = z
  .string()
  .max(2048, 'must have at most 2048 characters')
  .meta({
    pattern: RETURN_URL.source,
    description: '`{PAYMENT_ID}` in it, or `%7BPAYMENT_ID%7D`, is replaced by the payment’s id.',
  })
  // Live mode refuses localhost when a payment is created.
  .refine((value) => RETURN_URL.test(value) && value.isWellFormed() && URL.canParse(value), {
    params: { code: 'url_invalid' },
    message:
      'must be an absolute https URL without a user name or password (http only for localhost), its host in ASCII (xn--)',
  })

export function isLocal(parsed: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname)
}

export const metadata = z
  .record(z.string(), textAsSent(500))
  .refine((value) => Object.keys(value).length <= 50, 'must have at most 50 keys')
  .refine(
    (value) => Object.keys(value).every((key) => key.length > 0 && characters(key) <= 40 && isSafeText(key, 'line')),
    'must have keys of 1 to 40 characters, without control characters',
  )
  .meta(
    extendJsonSchema({
      maxProperties: 50,
      propertyNames: { type: 'string', minLength: 1, maxLength: 40, pattern: textPattern('line') },
    }),
  )

const taxId = safeText(40, storedReference)

const customerBody = { customer_email: emailAddress.optional(), customer_tax_id: taxId.optional() }

/** In responses only: personal data of a buyer is in no event. */
const customerObject = {
  customer_email: z.string().nullable().optional(),
  customer_tax_id: z.string().nullable().optional(),
}

export const updatePaymentBody = z
  .strictObject({
    description: safeText(500).nullable().optional(),
    reference: referenceText.nullable().optional(),
    metadata: metadata.nullable().optional(),
    customer_email: emailAddress.nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name at least one field to change')
  .meta(extendJsonSchema({ minProperties: 1 }))

export type UpdatePaymentBody = z.output<typeof updatePaymentBody>

const createPaymentFields = z.strictObject({
  amount: amountText,
  currency: currencyCode,
  provider: z.enum(PROVIDER_NAMES).optional(),
  description: safeText(500).optional(),
  reference: referenceText.optional(),
  metadata: metadata.optional(),
  ...customerBody,
  ...invoiceBody,
  success_url: url.optional(),
  cancel_url: url.optional(),
  expires_in: z.int().min(1800).max(604_800).default(86_400),
  fallback: z.enum(['picker', 'none']).default('picker'),
})

/** Runs a refinement even if fields are invalid, so that all problems are reported at once. */
export const ALWAYS = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null }

/** The refinement of a body with items. */
export const ITEMS_ADD_UP = {
  ...ALWAYS,
  path: ['items'],
  error: ({ input }: { input: unknown }) => findItemsProblem(input as Readonly<Record<string, unknown>>) ?? undefined,
}

export const createPaymentBody = createPaymentFields
  .refine(({ amount, currency }) => !hasTooManyDecimals(amount, currency), {
    ...ALWAYS,
    path: ['amount'],
    params: { code: 'amount_precision' },
    error: ({ input }) => decimalsAllowed((input as { currency: Currency }).currency),
  })
  .refine((body) => findItemsProblem(body) === null, ITEMS_ADD_UP)
  .meta(extendJsonSchema(amountsByCurrency('amount')))
export type CreatePaymentBody = z.output<typeof createPaymentBody>

export function hasTooManyDecimals(amount: unknown, currency: unknown): boolean {
  if (typeof amount !== 'string' || typeof currency !== 'string' || !isCurrency(currency)) return false
  const parsed = parseAmount(amount, currency)
  return !parsed.ok && parsed.problem === 'precision'
}

export const paymentObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('payment'),
    livemode: z.boolean(),
    status: z.enum(PAYMENT_STATUSES),
    status_reason: z.string().nullable(),
    exception: z.string().nullable(),
    amount: z.number(),
    amount_decimal: z.string(),
    amount_minor: z.int(),
    currency,
    provider: z.enum(PROVIDER_NAMES).nullable(),
    provider_used: z.string().nullable(),
    method_used: z.string().nullable(),
    fallback: z.enum(['picker', 'none']),
    description: z.string().nullable(),
    reference: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    ...customerObject,
    ...invoiceObject,
    success_url: z.string().nullable(),
    cancel_url: z.string().nullable(),
    checkout_url: z.string(),
    quote: z.strictObject({
      rate: z.string(),
      rate_source: z.string(),
      net_usdc_estimate: usdcAmount,
      expires_at: moment,
    }),
    settlement: z.strictObject({
      confirmed: z.strictObject({ amount: z.string(), amount_minor: z.int(), currency }).nullable(),
      gross_usdc: usdcAmount.nullable(),
      fee_usdc: usdcAmount.nullable(),
      fee_percent: z.string(),
      net_usdc: usdcAmount.nullable(),
      reserve: z
        .strictObject({
          percent: z.string(),
          days: z.int(),
          held_usdc: usdcAmount,
          due_on: z.iso.date().nullable(),
          released_usdc: usdcAmount,
          release: z.string().nullable(),
        })
        .nullable(),
      deduction: z.strictObject({ usdc: usdcAmount, refund: z.string(), release: z.string().nullable() }).nullable(),
      rate: z.string().nullable(),
      rate_from: currency.nullable(),
      rate_to: z.literal('USDC').nullable(),
      rate_source: z.string().nullable(),
      rate_locked_at: moment.nullable(),
      chain: z.literal('polygon'),
      chain_id: z.int(),
      token: z.string(),
      destination: z.string(),
      tx_hash: z.string().nullable(),
      log_index: z.int().nullable(),
      block_number: z.int().nullable(),
      finalized_at: moment.nullable(),
      explorer_url: z.string().nullable(),
      delayed_since: moment.nullable(),
    }),
    attempts: z.array(
      z.strictObject({
        id: z.string(),
        provider: z.enum(USED_PROVIDER_NAMES),
        status: z.string(),
        partner_reference: z.string().nullable(),
        failure_code: z.string().nullable(),
        created_at: moment,
      }),
    ),
    refunded_amount: z.string(),
    refundable_amount: z.string(),
    refunds_count: z.int(),
    payment_link: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    expires_at: moment,
    paid_at: moment.nullable(),
    succeeded_at: moment.nullable(),
    failed_at: moment.nullable(),
    canceled_at: moment.nullable(),
    version: z.int(),
    chargeback: z
      .strictObject({ attempt: z.string(), amount: z.string(), lost: z.string(), currency: z.string() })
      .optional(),
  })
  .meta({ id: 'Payment', examples: [PAYMENT] })
