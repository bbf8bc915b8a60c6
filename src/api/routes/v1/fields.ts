import { z } from 'zod'
import { readEmail } from '../../../domain/account/email.ts'
import { CURRENCIES, type Currency, getDecimals, isCurrency } from '../../../domain/currencies.ts'
import { parseAmount } from '../../../domain/money.ts'
import { isSafeText, isVisible, storedReference, storedText } from '../../../domain/text.ts'
import { AMOUNT, textPattern } from './patterns.ts'

/** Code points: close to what a person counts. */
export const characters = (text: string): number => Array.from(text).length

const hasLength = (text: string, least: number, most: number): boolean =>
  text.length >= least && text.length <= 2 * most && characters(text) <= most

/** For people: 1 to `most` characters (code points after NFC), of which one is visible. */
export const safeText = (most: number, stored: (text: string) => string = storedText) =>
  z
    .string()
    .meta({ minLength: 1, maxLength: most, pattern: textPattern('visible line') })
    .transform(stored)
    .refine((value) => isSafeText(value, 'line'), 'must not contain control characters or broken Unicode')
    .refine((value) => hasLength(value, 1, most), `must have 1 to ${most} characters`)
    .refine(isVisible, 'must have a visible character')

export const emailAddress = z
  .string()
  .max(254)
  .meta({ format: 'email' })
  .transform((text, context) => {
    const email = readEmail(text)
    if (email !== null) return email
    context.addIssue({ code: 'custom', message: 'must be a whole e-mail address, such as you@shop.example' })
    return z.NEVER
  })

/** Invisible characters are removed, so that two references that look alike are equal. */
export const referenceText = safeText(200, storedReference)

/** For programs: returned unchanged. */
export const textAsSent = (most: number) =>
  z
    .string()
    .meta({ maxLength: most, pattern: textPattern('lines') })
    .refine((value) => isSafeText(value, 'lines'), 'must not contain control characters or broken Unicode')
    .refine((value) => hasLength(value, 0, most), `must have 0 to ${most} characters`)

export const currencyCode = z
  .string()
  .meta({ description: 'ISO 4217.', enum: CURRENCIES })
  .regex(/^[A-Z]{3}$/, { abort: true, message: 'must be three upper-case letters, such as EUR' })
  .refine(isCurrency, {
    params: { code: 'currency_not_supported' },
    message: `must be one of ${CURRENCIES.join(', ')}`,
  })
  .transform((value) => value as Currency)

/**
 * Parsed to decimal text. JSON numbers pass through binary floating point; with at most 15 digits they print as they
 * were written. The number of decimals is checked later, when the currency is known.
 */
export const amountText = z
  .union([z.number(), z.string()], 'must be a number or a decimal string in major units, such as 49.99')
  .meta({
    description: 'In major units, with at most the decimals of the currency: none for JPY, two for EUR.',
    examples: [49.99, '49.99'],
    override: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0, maximum: 999_999_999_999.99, multipleOf: 0.01 },
        { type: 'string', pattern: AMOUNT.source },
      ],
    },
  })
  .transform((value, context) => {
    const decimal = String(value)
    const problem = amountProblem(decimal, typeof value === 'number')
    if (problem === null) return decimal
    context.addIssue({ code: 'custom', params: { code: 'amount_invalid' }, message: problem })
    return z.NEVER
  })

/** For the OpenAPI document: an amount in a currency without decimals has none. */
export function amountsByCurrency(...fields: readonly string[]) {
  const whole = { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^[1-9]\\d*$' }] }
  return {
    allOf: [
      {
        anyOf: [
          { properties: { currency: { not: { enum: CURRENCIES.filter((code) => getDecimals(code) === 0) } } } },
          { properties: Object.fromEntries(fields.map((field) => [field, whole])) },
        ],
      },
    ],
  }
}

/** Characters. */
const LONGEST_AMOUNT = 30

function amountProblem(decimal: string, isNumber: boolean): string | null {
  if (isNumber && decimal.replace(/\D/g, '').length > 15)
    return 'must be sent as a string when it has more than 15 digits'
  if (decimal.length > LONGEST_AMOUNT) return `must have at most ${LONGEST_AMOUNT} characters`
  // EUR represents any currency. The decimals are checked when the currency is known.
  const parsed = parseAmount(decimal, 'EUR')
  if (parsed.ok || parsed.problem === 'precision') return null
  return parsed.problem === 'zero'
    ? 'must be more than zero'
    : 'must be a plain decimal number in major units, without sign, exponent or leading zeros, such as 49.99'
}

export function decimalsAllowed(code: Currency): string {
  const decimals = getDecimals(code)
  return decimals === 0 ? `must have no decimals in ${code}` : `must have at most ${decimals} decimals in ${code}`
}

/** Any text: a malformed id gets the same 404 as an unknown one. */
export const idPath = z.object({ id: z.string() })

export const moment = z.iso.datetime()
export const usdcAmount = z.string().regex(/^\d+\.\d{6}$/)
export const currency = z.enum(CURRENCIES as [Currency, ...Currency[]])
