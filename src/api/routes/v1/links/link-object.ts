import { z } from 'zod'
import { LINK_STATUSES, PREFILLS } from '../../../../domain/link/link.ts'
import { PROVIDER_NAMES } from '../../../../domain/methods.ts'
import { PAYMENT_LINK } from '../../../document/link-example.ts'
import { currency, moment } from '../fields.ts'
import { invoiceObject } from '../payments/invoice-schemas.ts'

export const linkObject = z
  .strictObject({
    id: z.string(),
    object: z.literal('payment_link'),
    livemode: z.boolean(),
    code: z.string(),
    url: z.string(),
    active: z.boolean(),
    status: z.enum(LINK_STATUSES).meta({ description: 'Only an active link takes payments.' }),
    amount: z.number().nullable().meta({ description: 'In major units; null: the buyer decides.' }),
    min_amount: z.number().nullable(),
    max_amount: z.number().nullable(),
    currency,
    provider: z.enum(PROVIDER_NAMES).nullable(),
    title: z.string(),
    description: z.string().nullable(),
    reference: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    ...invoiceObject,
    success_url: z.string().nullable(),
    prefill: z.array(z.enum(PREFILLS)),
    max_payments: z.int().nullable(),
    payments_count: z.int().meta({
      description:
        'Payments that are open or paid. If the link has `max_payments`, a payment that its buyer has not continued for five minutes does not count, and gives its place to the next buyer.',
    }),
    expires_at: moment.nullable(),
    inactive_message: z.string().nullable(),
    wallet: z.string().nullable().meta({ description: 'Null: the wallet of the account.' }),
    created_via: z.enum(['api', 'dashboard', 'form']),
    completed_at: moment.nullable().meta({ description: 'When the last of max_payments succeeded.' }),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'PaymentLink', examples: [PAYMENT_LINK] })
