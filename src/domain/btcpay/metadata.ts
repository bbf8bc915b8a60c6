import { readEmail } from '../account/email.ts'
import { isSafeText } from '../text.ts'

/** Fields of a payment that an invoice has in its metadata. */
export type InvoiceWords = {
  readonly reference: string | null
  readonly description: string | null
  readonly customerEmail: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** Personal data that no part of a payment needs. It is not stored. */
export const NOT_STORED = [
  'buyerName',
  'buyerAddress1',
  'buyerAddress2',
  'buyerCity',
  'buyerState',
  'buyerZip',
  'buyerCountry',
  'buyerPhone',
] as const

const OWN_FIELDS: readonly string[] = ['orderId', 'buyerEmail', 'itemDesc', ...NOT_STORED]

/** The metadata of a payment (`POST /v1/payments`). */
const MOST_KEYS = 50
const LONGEST_KEY = 40
const LONGEST_VALUE = 500
const LONGEST_DESCRIPTION = 500

/**
 * A value that is no text becomes its JSON. What a payment has no room for is left out rather than refused: shops
 * put order lines and addresses there, and none of them is a reason not to sell.
 */
export function readInvoiceMetadata(metadata: Readonly<Record<string, unknown>>): InvoiceWords {
  const { orderId, buyerEmail, itemDesc } = metadata
  const entries = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    const text = toText(value)
    return text !== null && !OWN_FIELDS.includes(key) && isStorable(key, text) ? [[key, text]] : []
  })
  const description = typeof itemDesc === 'string' ? itemDesc.trim() : ''
  return {
    reference: toText(orderId) || null,
    description: description !== '' && fits(description, LONGEST_DESCRIPTION, 'line') ? description : null,
    customerEmail: typeof buyerEmail === 'string' ? readEmail(buyerEmail) : null,
    metadata: Object.fromEntries(entries.slice(0, MOST_KEYS)),
  }
}

type ShownWords = {
  readonly reference: string | null
  readonly description: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly customer_email?: string | null
}

/** An event has no `customer_email`: personal data is in no event. */
export function renderInvoiceMetadata(payment: ShownWords): Record<string, string> {
  const { reference, description, metadata, customer_email: email = null } = payment
  return {
    ...metadata,
    ...(reference !== null && { orderId: reference }),
    ...(description !== null && { itemDesc: description }),
    ...(email !== null && { buyerEmail: email }),
  }
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const fits = (text: string, most: number, kind: 'line' | 'lines'): boolean =>
  text.length <= 2 * most && Array.from(text).length <= most && isSafeText(text, kind)

const isStorable = (key: string, text: string): boolean =>
  key !== '' && fits(key, LONGEST_KEY, 'line') && fits(text, LONGEST_VALUE, 'lines')
