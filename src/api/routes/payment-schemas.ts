import { z } from 'zod'
import { CURRENCIES, isCurrency } from '../../domain/currencies.ts'
import { PROVIDER_NAMES } from '../../domain/methods.ts'
import { PAYMENT_STATUSES } from '../../domain/payment.ts'

/** What the payment routes take and answer. */

/** NUL and lone surrogates cannot be stored; other controls and bidirectional overrides would deceive the buyer. */
const UNSAFE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

const text = (max: number) =>
  z
    .string()
    .transform((value) => value.normalize('NFC'))
    .refine((value) => !UNSAFE.test(value), 'has control characters or broken Unicode')
    .refine((value) => value.length > 0 && [...value].length <= max, `has 1 to ${max} characters`)

/**
 * The amount as decimal text, whichever way it came. A JSON number has been through binary floating point: with at most
 * 15 digits it prints as it was written.
 */
const amount = z
  .union([z.number(), z.string()], 'is a number or a decimal string in major units, such as 49.99')
  .transform((value, context) => {
    const decimal = String(value)
    if (typeof value === 'number' && decimal.replace(/\D/g, '').length > 15) {
      context.addIssue({
        code: 'custom',
        params: { code: 'amount_invalid' },
        message: 'has more than 15 digits: send it as a string',
      })
      return z.NEVER
    }
    if (decimal.length > 30) {
      context.addIssue({ code: 'custom', params: { code: 'amount_invalid' }, message: 'is too long' })
      return z.NEVER
    }
    return decimal
  })

const url = z.string().max(2048, 'has at most 2048 characters').refine(isHttpUrl, 'is an absolute https URL')

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const parsed = new URL(value)
  if (parsed.username !== '' || parsed.password !== '') return false
  return parsed.protocol === 'https:' || parsed.protocol === 'http:'
}

const metadata = z
  .record(z.string(), text(500))
  .refine((value) => Object.keys(value).length <= 50, 'has at most 50 keys')
  .refine(
    (value) => Object.keys(value).every((key) => key.length > 0 && [...key].length <= 40 && !UNSAFE.test(key)),
    'keys have 1 to 40 characters',
  )

export const createPaymentBody = z.strictObject({
  amount,
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'is three upper-case letters, such as EUR')
    .refine(isCurrency, { params: { code: 'currency_not_supported' }, message: 'is not supported' }),
  provider: z.enum(PROVIDER_NAMES).optional(),
  description: text(500).optional(),
  reference: text(200).optional(),
  metadata: metadata.optional(),
  success_url: url.optional(),
  cancel_url: url.optional(),
  expires_in: z.int().min(1800).max(604_800).default(86_400),
  fallback: z.enum(['picker', 'none']).default('picker'),
})
export type CreatePaymentBody = z.output<typeof createPaymentBody>

/** An id that cannot be one is answered like one that does not exist. */
export const paymentPath = z.object({ id: z.string() })

const moment = z.iso.datetime()
const usdc = z.string().regex(/^\d+\.\d{6}$/)

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
    currency: z.enum(CURRENCIES as [string, ...string[]]),
    provider: z.enum(PROVIDER_NAMES).nullable(),
    provider_used: z.string().nullable(),
    method_used: z.string().nullable(),
    fallback: z.enum(['picker', 'none']),
    description: z.string().nullable(),
    reference: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    success_url: z.string().nullable(),
    cancel_url: z.string().nullable(),
    checkout_url: z.string(),
    quote: z.strictObject({ rate: z.string(), rate_source: z.string(), net_usdc_estimate: usdc, expires_at: moment }),
    settlement: z.strictObject({
      gross_usdc: usdc.nullable(),
      fee_usdc: usdc.nullable(),
      fee_percent: z.string(),
      net_usdc: usdc.nullable(),
      rate: z.string().nullable(),
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
    }),
    attempts: z.array(
      z.strictObject({
        id: z.string(),
        provider: z.enum(PROVIDER_NAMES),
        status: z.string(),
        partner_reference: z.string().nullable(),
        failure_code: z.string().nullable(),
        created_at: moment,
      }),
    ),
    payment_link: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    expires_at: moment,
    paid_at: moment.nullable(),
    succeeded_at: moment.nullable(),
    failed_at: moment.nullable(),
    canceled_at: moment.nullable(),
    version: z.int(),
  })
  .meta({ id: 'Payment' })
