import { z } from 'zod'
import { readAskedAmounts } from '../../../db/payments/asked-amounts.ts'
import { listPaymentStatuses } from '../../../domain/btcpay/invoice.ts'
import { readInvoiceMetadata } from '../../../domain/btcpay/metadata.ts'
import { getDecimals, isCurrency } from '../../../domain/currencies.ts'
import { isClosed } from '../../../domain/payment/payment.ts'
import { refuseField } from '../../http/problems.ts'
import { parseOrExplain } from '../../http/validation.ts'
import { createPayment } from '../../routes/v1/payments/payment-create.ts'
import { listPayments } from '../../routes/v1/payments/payment-list.ts'
import { cancelPayment, readPayment, updatePayment } from '../../routes/v1/payments/payments.ts'
import type { ShownPayment } from '../../routes/v1/payments/shown-payments.ts'
import { renderInvoice, renderInvoiceMethods, type ShownInvoice } from './invoice-object.ts'
import type { FacadeCall, FacadeDeps, Handle } from './serve.ts'

/** Fields that a payment has no use for are accepted and ignored, as by BTCPay: shops send what their version knows. */

const metadataField = z.record(z.string(), z.unknown()).nullish()

const createBody = z.looseObject({
  amount: z.union([z.string(), z.number()], 'must be the amount: invoices without one are not supported'),
  currency: z.string().max(20),
  metadata: metadataField,
  checkout: z.looseObject({ redirectURL: z.string().nullish(), expirationMinutes: z.number().nullish() }).nullish(),
})

const updateBody = z.looseObject({ metadata: metadataField })
const statusBody = z.looseObject({ status: z.string() })

export const createInvoice: Handle = async (call, deps) =>
  show(call, deps, await call.ask<ShownPayment>(createPayment, { body: toPayment(call.request.body) }))

export const readInvoice: Handle = async (call, deps) => show(call, deps, await findPayment(call))

export const readInvoiceMethods: Handle = async (call, deps) => {
  const [shown] = await withAsked(call, deps, [await findPayment(call)])
  return shown === undefined ? [] : renderInvoiceMethods(shown)
}

async function withAsked(
  { caller }: FacadeCall,
  { db }: FacadeDeps,
  payments: readonly ShownPayment[],
): Promise<ShownInvoice[]> {
  const paid = payments.filter(({ settlement }) => settlement.confirmed !== null).map(({ id }) => id)
  const asked = await readAskedAmounts(db.as(caller), caller, paid)
  return payments.map((payment) => ({ payment, asked: asked.get(payment.id) ?? null }))
}

async function showAll(call: FacadeCall, deps: FacadeDeps, payments: readonly ShownPayment[]): Promise<object[]> {
  return (await withAsked(call, deps, payments)).map((shown) => renderInvoice(shown, call.storeId))
}

const show = async (call: FacadeCall, deps: FacadeDeps, payment: ShownPayment): Promise<object | undefined> =>
  (await showAll(call, deps, [payment]))[0]

/** Changes only what is named and can be read. Other metadata is replaced as a whole. */
export const updateInvoice: Handle = async (call, deps) => {
  const { request, ask } = call
  const { metadata } = parseOrExplain(updateBody, request.body)
  const words = readInvoiceMetadata(metadata ?? {})
  const sent = metadata ?? {}
  const isEmailRemoved = Object.hasOwn(sent, 'buyerEmail') && (sent['buyerEmail'] ?? '') === ''
  const body = {
    ...(Object.hasOwn(sent, 'orderId') && { reference: words.reference }),
    ...(Object.keys(words.metadata).length > 0 && { metadata: words.metadata }),
    ...((isEmailRemoved || words.customerEmail !== null) && { customer_email: words.customerEmail }),
  }
  if (Object.keys(body).length === 0) return show(call, deps, await findPayment(call))
  return show(call, deps, await ask<ShownPayment>(updatePayment, { params: readId(request.params), body }))
}

/** An open payment is canceled. An invoice that ended stays as it is: payments are never removed from the books. */
export const archiveInvoice: Handle = async (call, deps) => {
  const payment = await findPayment(call)
  return show(call, deps, isClosed(payment.status) ? payment : await cancel(call))
}

export const markInvoice: Handle = async (call, deps) => {
  const { status } = parseOrExplain(statusBody, call.request.body)
  if (status === 'Invalid') return show(call, deps, await cancel(call))
  throw refuseField(
    'status',
    status === 'Settled' || status === 'Complete'
      ? 'must be Invalid: an invoice is settled only when its USDC is final at your wallet'
      : 'must be Invalid',
  )
}

const findPayment = ({ ask, request }: FacadeCall): Promise<ShownPayment> =>
  ask(readPayment, { params: readId(request.params) })

const cancel = ({ ask, request }: FacadeCall): Promise<ShownPayment> =>
  ask(cancelPayment, { params: readId(request.params) })

const readId = (params: FacadeCall['request']['params']): { readonly id: string } => ({
  id: String(params['id'] ?? ''),
})

/** Seconds: the shortest and the longest time that a payment can have. */
const [SHORTEST, LONGEST] = [1800, 604_800]

function toPayment(sent: unknown): object {
  const { amount, currency: code, metadata, checkout } = parseOrExplain(createBody, sent)
  const currency = code.toUpperCase()
  const words = readInvoiceMetadata(metadata ?? {})
  const { redirectURL, expirationMinutes } = checkout ?? {}
  return {
    amount: withoutZeros(amount, currency),
    currency,
    metadata: words.metadata,
    ...(words.reference !== null && { reference: words.reference }),
    ...(words.description !== null && { description: words.description }),
    ...(words.customerEmail !== null && { customer_email: words.customerEmail }),
    ...(redirectURL !== null &&
      redirectURL !== undefined &&
      redirectURL !== '' && {
        success_url: fillPlaces(redirectURL, words.reference),
      }),
    ...(typeof expirationMinutes === 'number' && {
      expires_in: Math.min(Math.max(Math.round(expirationMinutes * 60), SHORTEST), LONGEST),
    }),
  }
}

/** Shops write `4990.00` in currencies without decimals. Digits other than zero are not rounded: the price is refused. */
function withoutZeros(amount: string | number, currency: string): string | number {
  if (typeof amount === 'number' || !isCurrency(currency)) return amount
  const match = /^(\d+)\.(\d+)$/.exec(amount)
  if (match === null) return amount
  const decimals = getDecimals(currency)
  const [, whole = '', digits = ''] = match
  if (!/^0*$/.test(digits.slice(decimals))) return amount
  const kept = digits.slice(0, decimals)
  return kept === '' ? whole : `${whole}.${kept}`
}

/** BTCPay's names of what a shop can have in its address. */
const fillPlaces = (url: string, reference: string | null): string =>
  url
    .replaceAll('{InvoiceId}', '{PAYMENT_ID}')
    .replaceAll('{OrderId}', () => encodeURIComponent((reference ?? '').toWellFormed()))

const several = z.union([z.string(), z.array(z.string())]).optional()
const listQuery = z.looseObject({
  orderId: several,
  status: several,
  textSearch: z.string().optional(),
  startDate: z.string().optional(),
  endDate: z.string().optional(),
  take: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number of at most 3 digits')
    .optional(),
  skip: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number of at most 4 digits')
    .optional(),
})

const MOST_TAKEN = 100
const MOST_SKIPPED = 1000
const MOST_ORDERS = 20

type List = { readonly data: ShownPayment[]; readonly has_more: boolean }
type Filters = Readonly<Record<string, string>>

/** Newest first. */
export const listInvoices: Handle = async (call, deps) => {
  const query = parseOrExplain(listQuery, { ...call.request.query }, 'query')
  const orders = [...new Set(toList(query.orderId))]
  const take = Number(query.take ?? 50)
  const skip = Number(query.skip ?? 0)
  if (take > MOST_TAKEN) throw refuseField('take', `must be at most ${MOST_TAKEN}`)
  if (skip > MOST_SKIPPED) throw refuseField('skip', `must be at most ${MOST_SKIPPED}: use startDate and endDate`)
  if (orders.length > MOST_ORDERS) throw refuseField('orderId', `must be at most ${MOST_ORDERS} orders`)
  const filters = readFilters(query)
  if (filters === null || take === 0) return []
  const found =
    orders.length === 0
      ? await collect(call, filters, skip + take)
      : (await Promise.all(orders.map((reference) => collect(call, { ...filters, reference }, skip + take)))).flat()
  const sorted = found.toSorted((one, other) => (one.id < other.id ? 1 : -1))
  return showAll(call, deps, sorted.slice(skip, skip + take))
}

/** Null: no payment can have one of these statuses. */
function readFilters(query: z.output<typeof listQuery>): Filters | null {
  const wanted = toList(query.status)
  const statuses = listPaymentStatuses(wanted)
  if (wanted.length > 0 && statuses.length === 0) return null
  return {
    ...(wanted.length > 0 && { status: statuses.join(',') }),
    ...(query.textSearch !== undefined && query.textSearch !== '' && { search: query.textSearch }),
    ...(query.startDate !== undefined && { 'created[gte]': query.startDate }),
    ...(query.endDate !== undefined && { 'created[lt]': query.endDate }),
  }
}

async function collect({ ask }: FacadeCall, filters: Filters, most: number): Promise<ShownPayment[]> {
  const found: ShownPayment[] = []
  for (let more = true; more && found.length < most; ) {
    const last = found.at(-1)
    const limit = String(Math.min(most - found.length, MOST_TAKEN))
    const query = { ...filters, limit, ...(last !== undefined && { starting_after: last.id }) }
    const page = await ask<List>(listPayments, { query })
    found.push(...page.data)
    more = page.has_more
  }
  return found
}

const toList = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value
