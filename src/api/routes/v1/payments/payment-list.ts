import { z } from 'zod'
import { listPayments as listStoredPayments, type PaymentFilters } from '../../../../db/payments/payment-list.ts'
import { readTimeline } from '../../../../db/payments/timeline.ts'
import { typeId } from '../../../../domain/ids.ts'
import { PROVIDER_NAMES } from '../../../../domain/methods.ts'
import { PAYMENT_STATUSES } from '../../../../domain/payment/payment.ts'
import { TIMELINE_ENTRY } from '../../../document/examples.ts'
import { defineOperation } from '../../../operation.ts'
import { emailAddress, idPath, moment } from '../fields.ts'
import { listAnswer, listSchema, noCursor, pageQuery, readPage, searched, since } from '../lists.ts'
import { paymentObject } from './payment-schemas.ts'
import { loadPayment, type PaymentOperationDeps } from './payments.ts'
import { showPayments } from './shown-payments.ts'

const STATUSES = new RegExp(`^(?:${PAYMENT_STATUSES.join('|')})(?:,(?:${PAYMENT_STATUSES.join('|')}))*$`)

export const paymentFilterQuery = {
  status: z
    .string()
    .max(200)
    .regex(STATUSES, `must be one or more of ${PAYMENT_STATUSES.join(', ')}, with commas between`)
    .optional(),
  provider: z.enum([...PROVIDER_NAMES, 'crypto']).optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three upper-case letters, such as EUR')
    .optional(),
  reference: searched.optional(),
  customer_email: emailAddress.optional(),
  tx_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
    .optional(),
  payment_link: z.string().regex(typeId('link'), 'must be the id of a payment link').optional(),
  'created[gte]': since.optional(),
  'created[lt]': since.optional(),
  search: searched.optional().meta({
    description:
      'A payment’s id, a transaction, the buyer’s whole e-mail address, or part of the reference, the description or the metadata (`key: value`). Text with fewer than three letters or digits in a row is searched in the next 10,000 payments only.',
  }),
}

const listQuery = z.strictObject({ ...pageQuery('payment'), ...paymentFilterQuery })

type FilterQuery = Partial<Record<keyof typeof paymentFilterQuery, string | undefined>>

export function readPaymentFilters(query: FilterQuery): PaymentFilters {
  const { status, provider, currency, reference, tx_hash, search, payment_link: paymentLink } = query
  return {
    status: status?.split(','),
    provider,
    currency,
    reference,
    customerEmail: query.customer_email,
    tx_hash,
    paymentLink,
    search,
    createdFrom: query['created[gte]'],
    createdBefore: query['created[lt]'],
  }
}

const timelineEntry = z
  .strictObject({
    id: z.string().meta({ description: 'The id of the entry, for use as a cursor.' }),
    at: moment,
    kind: z.string(),
    from_status: z.string().nullable(),
    to_status: z.string().nullable(),
    actor: z.string(),
    message: z.string().meta({ description: 'What happened, in words.' }),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'TimelineEntry', examples: [TIMELINE_ENTRY] })

export const listPayments = defineOperation({
  name: 'listPayments',
  method: 'get',
  path: '/v1/payments',
  tag: 'Payments',
  summary: 'List payments, newest first',
  scope: 'payments:read',
  query: listQuery,
  answers: { 200: listSchema(paymentObject) },
  example: { query: { limit: '10', status: 'created,pending', 'created[gte]': '2026-01-01T00:00:00Z' } },
  handle: async ({ caller, db, query }, { publicUrl }: Pick<PaymentOperationDeps, 'publicUrl'>) => {
    const page = readPage(query)
    const found = await listStoredPayments(db, caller, { filters: readPaymentFilters(query), page })
    if (found === null) throw noCursor(page)
    const { rows, hasMore } = found
    return listAnswer(await showPayments({ db, tenant: caller, publicUrl }, rows), hasMore)
  },
})

export const readPaymentTimeline = defineOperation({
  name: 'readPaymentTimeline',
  method: 'get',
  path: '/v1/payments/{id}/timeline',
  tag: 'Payments',
  summary: 'List everything that happened to a payment, oldest first',
  description: 'States, partner orders, money, the transfer, events and their deliveries.',
  scope: 'payments:read',
  params: idPath,
  query: z.strictObject(pageQuery('entry', 100)),
  answers: { 200: listSchema(timelineEntry) },
  handle: async ({ caller, db, params, query }) => {
    const { payment } = await loadPayment(db, caller, params.id)
    const { rows, hasMore } = await readTimeline(db, caller, {
      paymentId: payment.id,
      page: readPage(query),
      reader: 'merchant',
    })
    return listAnswer(rows, hasMore)
  },
})
