import { z } from 'zod'
import { PREFILLS } from '../../domain/link/link.ts'
import { PROVIDER_NAMES } from '../../domain/methods.ts'
import {
  amountsByCurrency,
  amountText,
  currencyCode,
  decimalsAllowed,
  referenceText,
  safeText,
} from '../routes/v1/fields.ts'
import { since } from '../routes/v1/lists.ts'
import { extendJsonSchema } from '../routes/v1/patterns.ts'
import { findItemsProblem, invoiceBody } from '../routes/v1/payments/invoice-schemas.ts'
import { ALWAYS, hasTooManyDecimals, ITEMS_ADD_UP, metadata, url } from '../routes/v1/payments/payment-schemas.ts'

/** The fields of a link. The API and the forms read them by the same rules. */

const AMOUNTS = ['amount', 'min_amount', 'max_amount'] as const

const prefill = z
  .array(z.enum(PREFILLS), 'must be a list of amount, reference')
  .max(PREFILLS.length)
  .transform((names) => [...new Set(names)])
  .meta({
    description: 'What the query of the URL can prefill: `?amount=` (where the buyer decides), `?reference=`.',
  })

const changeable = {
  title: safeText(100),
  description: safeText(500),
  reference: referenceText.meta({ description: 'Your own number. Buyers do not see it.' }),
  metadata,
  success_url: url,
  max_payments: z.int().min(1).max(1_000_000).meta({
    description: 'The largest number of open and paid payments. A payment that ends without money frees its place.',
  }),
  expires_at: since.meta({ description: 'From then on it creates no payments.' }),
  inactive_message: safeText(500).meta({ description: 'What a buyer sees while the link takes no payments.' }),
}

const linkFields = z.strictObject({
  currency: currencyCode,
  amount: amountText.optional().meta({ description: 'In major units. If absent, the buyer decides.' }),
  min_amount: amountText.optional().meta({ description: 'The smallest amount that the buyer can enter.' }),
  max_amount: amountText.optional().meta({ description: 'The largest amount that the buyer can enter.' }),
  provider: z.enum(PROVIDER_NAMES).optional(),
  title: changeable.title,
  description: changeable.description.optional(),
  reference: changeable.reference.optional(),
  metadata: changeable.metadata.optional(),
  ...invoiceBody,
  success_url: changeable.success_url.optional(),
  prefill: prefill.default([]),
  max_payments: changeable.max_payments.optional(),
  expires_at: changeable.expires_at.optional(),
  inactive_message: changeable.inactive_message.optional(),
})

export const createLinkBody = AMOUNTS.reduce(
  (schema, field) =>
    schema.refine((body) => !hasTooManyDecimals(body[field], body.currency), {
      ...ALWAYS,
      path: [field],
      params: { code: 'amount_precision' },
      error: ({ input }) => decimalsAllowed((input as { currency: z.output<typeof currencyCode> }).currency),
    }),
  linkFields
    .refine(({ amount, min_amount, max_amount }) => amount === undefined || (min_amount ?? max_amount) === undefined, {
      ...ALWAYS,
      path: ['amount'],
      message: 'must be absent with min_amount or max_amount, which are for amounts that the buyer decides',
    })
    .refine((body) => findItemsProblem(body) === null, ITEMS_ADD_UP)
    // Runs even if the field has another type.
    .refine(({ amount, prefill: names }) => amount === undefined || ![names].flat().includes('amount'), {
      ...ALWAYS,
      path: ['prefill'],
      message: 'must not have amount where the amount is fixed',
    }),
).meta(
  extendJsonSchema({
    ...amountsByCurrency(...AMOUNTS),
    not: {
      anyOf: [
        { required: ['amount', 'min_amount'] },
        { required: ['amount', 'max_amount'] },
        { required: ['amount', 'prefill'], properties: { prefill: { contains: { const: 'amount' } } } },
      ],
    },
  }),
)
export type CreateLinkBody = z.output<typeof createLinkBody>

export const updateLinkBody = z
  .strictObject({
    active: z.boolean().optional(),
    title: changeable.title.optional(),
    description: changeable.description.nullable().optional(),
    reference: changeable.reference.nullable().optional(),
    metadata: changeable.metadata.nullable().optional(),
    success_url: changeable.success_url.nullable().optional(),
    prefill: prefill.optional(),
    max_payments: changeable.max_payments.nullable().optional(),
    expires_at: changeable.expires_at.nullable().optional(),
    inactive_message: changeable.inactive_message.nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name at least one field to change')
  .meta(extendJsonSchema({ minProperties: 1 }))
export type UpdateLinkBody = z.output<typeof updateLinkBody>
