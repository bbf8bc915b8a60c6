import type { Currency } from '../currencies.ts'
import { formatAmount, type Money, type Percent, parseAmount } from '../money.ts'

/** The merchant's additions to the receipt of a payment: invoice number, tax id, and the items that were bought. */
export type Invoice = {
  readonly number: string | null
  readonly taxId: string | null
  readonly items: readonly LineItem[]
}

/** The prices of the items, times their quantities, are the price of the payment. */
export type LineItem = {
  readonly name: string
  readonly quantity: number
  /** Minor units of the payment's currency, tax included. Below zero for a discount. */
  readonly unitMinor: string
  /** The tax that the price includes; null: the merchant names none. */
  readonly taxPercent: Percent | null
}

export const MAX_ITEMS = 50
export const MAX_QUANTITY = 1_000_000

/** The fields of a request and of the API's objects. Amounts are in major units. */
export type InvoiceFields = {
  invoice_number: string | null
  merchant_tax_id: string | null
  items: { name: string; quantity: number; unit_amount: string; tax_percent: string | null }[]
}

/** Throws a RangeError for an amount that `readItemPrice` does not read. Null if the merchant adds nothing. */
export function createInvoice(fields: InvoiceFields, currency: Currency): Invoice | null {
  const { invoice_number: number, merchant_tax_id: taxId } = fields
  const items = fields.items.map(({ name, quantity, unit_amount, tax_percent: taxPercent }) => {
    const unitMinor = readItemPrice(unit_amount, currency)
    if (unitMinor === null) throw new RangeError('the price of an item must fit its currency')
    return { name, quantity, unitMinor, taxPercent }
  })
  return number === null && taxId === null && items.length === 0 ? null : { number, taxId, items }
}

export function renderInvoice(invoice: Invoice | null, currency: Currency): InvoiceFields {
  return {
    invoice_number: invoice?.number ?? null,
    merchant_tax_id: invoice?.taxId ?? null,
    items: (invoice?.items ?? []).map(({ name, quantity, unitMinor, taxPercent }) => ({
      name,
      quantity,
      unit_amount: formatAmount({ minor: unitMinor, currency }),
      tax_percent: taxPercent,
    })),
  }
}

/** Reads major units, which can be zero or have a minus sign, as minor units; null for any other text. */
export function readItemPrice(text: string, currency: Currency): string | null {
  const parsed = parseAmount(text.replace(/^-/, ''), currency)
  if (!parsed.ok) return parsed.problem === 'zero' ? '0' : null
  return text.startsWith('-') ? `-${parsed.money.minor}` : parsed.money.minor
}

/** The quantity times the price. */
export function getItemAmount({ quantity, unitMinor }: LineItem, currency: Currency): Money {
  return { minor: (BigInt(unitMinor) * BigInt(quantity)).toString(), currency }
}
