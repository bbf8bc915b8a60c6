import { z } from 'zod'
import { isCurrency } from '../../../../domain/currencies.ts'
import { formatAmount, parseAmount, readPercent } from '../../../../domain/money.ts'
import { type InvoiceFields, MAX_ITEMS, MAX_QUANTITY, readItemPrice } from '../../../../domain/payment/invoice.ts'
import { storedReference } from '../../../../domain/text.ts'
import { safeText } from '../fields.ts'

/** The merchant's additions to the receipt. Payments and links read them by the same rules. */

const ITEM_PRICE = /^-?(?:0|[1-9]\d{0,11})(?:\.\d{1,2})?$/
const PERCENT = /^(?:0|[1-9]\d?|100)(?:\.\d{1,2})?$/

/** Parsed to decimal text. The decimals are checked when the currency is known. */
const itemPrice = z
  .union([z.number(), z.string()], 'must be a number or a decimal string in major units, such as 49.99')
  .meta({
    override: {
      anyOf: [
        { type: 'number', minimum: -999_999_999_999.99, maximum: 999_999_999_999.99, multipleOf: 0.01 },
        { type: 'string', pattern: ITEM_PRICE.source },
      ],
    },
  })
  .transform(String)
  .refine(
    (text) => ITEM_PRICE.test(text),
    'must be a plain decimal number in major units, such as 49.99, or -5.00 for a discount',
  )

const taxPercent = z
  .union([z.number(), z.string()], 'must be a number or a decimal string, such as 19')
  .meta({
    override: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: 100, multipleOf: 0.01 },
        { type: 'string', pattern: PERCENT.source },
      ],
    },
  })
  .transform((value, context) => {
    const percent = readPercent(String(value), 100)
    if (percent !== null) return percent
    context.addIssue({ code: 'custom', message: 'must be 0 to 100 with at most two decimals, such as 19' })
    return z.NEVER
  })

const item = z.strictObject({
  name: safeText(120),
  quantity: z.int().min(1).max(MAX_QUANTITY).default(1),
  unit_amount: itemPrice,
  tax_percent: taxPercent.nullable().default(null),
})

export const invoiceBody = {
  invoice_number: safeText(60, storedReference).optional(),
  merchant_tax_id: safeText(40, storedReference).optional(),
  items: z.array(item).min(1).max(MAX_ITEMS).optional(),
}

type InvoiceBody = z.output<z.ZodObject<typeof invoiceBody>>

export function toInvoiceFields({ invoice_number, merchant_tax_id, items }: InvoiceBody): InvoiceFields {
  return { invoice_number: invoice_number ?? null, merchant_tax_id: merchant_tax_id ?? null, items: items ?? [] }
}

/** Returns what is wrong with the items of a body; null if they make up its amount, or if another field is wrong. */
export function findItemsProblem({ amount, currency, items }: Readonly<Record<string, unknown>>): string | null {
  const read = z.array(item).safeParse(items)
  if (!read.success || typeof currency !== 'string' || !isCurrency(currency)) return null
  if (amount === undefined) return 'must be absent if the buyer decides the amount'
  const price = typeof amount === 'string' ? parseAmount(amount, currency) : null
  if (!price?.ok) return null
  let sum = 0n
  for (const { quantity, unit_amount } of read.data) {
    const unit = readItemPrice(unit_amount, currency)
    if (unit === null) return `must have prices with the decimals of ${currency}`
    sum += BigInt(unit) * BigInt(quantity)
  }
  if (sum === BigInt(price.money.minor)) return null
  return `must add up to the amount: they are ${formatAmount({ minor: sum.toString(), currency })} ${currency} in all`
}

export const invoiceObject = {
  invoice_number: z.string().nullable(),
  merchant_tax_id: z.string().nullable(),
  items: z.array(
    z.strictObject({
      name: z.string(),
      quantity: z.int(),
      unit_amount: z.string(),
      tax_percent: z.string().nullable(),
    }),
  ),
}
