import { z } from 'zod'
import { CURRENCIES, type Currency, decimalsOf, isCurrency } from '../../../domain/currencies.ts'
import { currenciesOf, type ProviderName } from '../../../domain/methods.ts'
import { parseAmount } from '../../../domain/money.ts'

/** Fields that several routes take. */

/** NUL and lone surrogates cannot be stored; other controls and bidirectional overrides would deceive who reads it. */
export const UNSAFE_NAME = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u
/** Where nobody but a program reads it, lines and tabs may stand. */
const UNSAFE_LINES = /(?![\t\n\r])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** Code points, as a person counts most of them. */
export const characters = (text: string): number => Array.from(text).length

/** Text of `least` to `most` characters (code points after NFC). */
export const safeText = (most: number, least = 1, kind: 'line' | 'lines' = 'line') =>
  z
    .string()
    .meta({ minLength: least, maxLength: most })
    .transform((value) => value.normalize('NFC'))
    .refine(
      (value) => !(kind === 'line' ? UNSAFE_NAME : UNSAFE_LINES).test(value),
      'must not contain control characters or broken Unicode',
    )
    .refine(
      (value) => value.length >= least && value.length <= 2 * most && characters(value) <= most,
      `must have ${least} to ${most} characters`,
    )

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
 * An amount in major units as decimal text, whichever way it came. A JSON number has been through binary floating point:
 * with at most 15 digits it prints as it was written. How many decimals it may have is the currency's matter.
 */
export const amountText = z
  .union([z.number(), z.string()], 'must be a number or a decimal string in major units, such as 49.99')
  .meta({
    description: 'In major units, with at most the decimals of the currency.',
    examples: [49.99, '49.99'],
    // Of text; of a number JSON Schema takes no notice of it.
    pattern: '^(0|[1-9]\\d*)(\\.\\d+)?$',
  })
  .transform((value, context) => {
    const decimal = String(value)
    const problem = amountProblem(decimal, typeof value === 'number')
    if (problem === null) return decimal
    context.addIssue({ code: 'custom', params: { code: 'amount_invalid' }, message: problem })
    return z.NEVER
  })

/** Longer than any amount of money, in characters. */
const LONGEST_AMOUNT = 30

function amountProblem(decimal: string, isNumber: boolean): string | null {
  if (isNumber && decimal.replace(/\D/g, '').length > 15)
    return 'must be sent as a string when it has more than 15 digits'
  if (decimal.length > LONGEST_AMOUNT) return `must have at most ${LONGEST_AMOUNT} characters`
  // A currency without decimals would only add the problem that the currency's own check reports.
  const parsed = parseAmount(decimal, 'EUR')
  if (parsed.ok || parsed.problem === 'precision') return null
  return parsed.problem === 'zero'
    ? 'must be more than zero'
    : 'must be a plain decimal number in major units, without sign, exponent or leading zeros, such as 49.99'
}

/** What the amount must be when `parseAmount` finds more decimals than ISO 4217 gives the currency. */
export function decimalsAllowed(code: Currency): string {
  const decimals = decimalsOf(code)
  return decimals === 0 ? `must have no decimals in ${code}` : `must have at most ${decimals} decimals in ${code}`
}

/** What the currency must be for the provider; null stands for all of them. */
export function currenciesAllowed(provider: ProviderName | null): string {
  return `must be a currency that ${provider ?? 'a provider'} takes: ${currenciesOf(provider).join(', ')}`
}

/** An id that cannot be one is answered like one that does not exist. */
export const idPath = z.object({ id: z.string() })

export const moment = z.iso.datetime()
export const usdcAmount = z.string().regex(/^\d+\.\d{6}$/)
export const currency = z.enum(CURRENCIES as [Currency, ...Currency[]])
