import { type Currency, getDecimals, isCurrency } from './currencies.ts'
import { type AmountProblem, type Money, parseAmount } from './money.ts'
import { withoutCharacters } from './text.ts'

/** Numbers as people type and paste them: digits of any script, and the grouping and decimal signs of any locale. */

/** Unicode has the ten digits of a script in a row from zero, and only whole rows next to each other. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}

export const asciiDigits = (text: string): string =>
  withoutCharacters(text, 'turn', 'invisible').replace(/(?![0-9])\p{Nd}/gu, asciiDigit)

export type TypedNumber =
  /** A plain decimal: digits, with a point before the decimals. */
  | { readonly ok: true; readonly decimal: string }
  | { readonly ok: false; readonly problem: 'format' }
  /** `grouped` is the number if its sign groups digits; the sign can also begin the decimals. */
  | { readonly ok: false; readonly problem: 'ambiguous'; readonly grouped: string }

const FORMAT = { ok: false, problem: 'format' } as const

/** Groups of three from the right, or as in India two before the last three; one sign between all of them. */
const GROUPED = /^(?:\d{1,3}(?:([',.])\d{3})(?:\1\d{3})*|\d{1,2}(?:([',.])\d{2})+\2\d{3})$/

/**
 * Reads a number in which blanks and apostrophes group digits, and the last of two signs begins the decimals. One comma
 * or full stop before three digits can be either, so it is refused; without `decimals` it can only group.
 */
export function readTypedNumber(text: string, decimals: number): TypedNumber {
  const plain = asciiDigits(text)
    .trim()
    .replace(/[\p{Zs}'’‘ʼ＇´`\u066c]/gu, "'")
    .replace(/[،，]/gu, ',')
    .replace(/．/gu, '.')
  const sign = decimalSign(plain)
  const [whole = '', fraction = null] = sign === null ? [plain] : plain.split(sign)
  if (fraction !== null && !/^\d+$/.test(fraction)) return FORMAT
  if (!/^\d+$/.test(whole) && !GROUPED.test(whole)) return FORMAT
  const digits = whole.replace(/\D/g, '')
  if (!/^[1-9]\d{0,2}[.,]\d{3}$/.test(plain))
    return { ok: true, decimal: fraction === null ? digits : `${digits}.${fraction}` }
  const grouped = `${digits}${fraction}`
  return decimals === 0 ? { ok: true, decimal: grouped } : { ok: false, problem: 'ambiguous', grouped }
}

/** Returns the sign before the decimals: the last one, unless it occurs more than once. */
function decimalSign(plain: string): string | null {
  const last = Array.from(plain).findLast((character) => '.,\u066b'.includes(character))
  return last === undefined || plain.indexOf(last) !== plain.lastIndexOf(last) ? null : last
}

export type TypedAmount =
  | { readonly ok: true; readonly money: Money }
  | { readonly ok: false; readonly problem: AmountProblem | 'currency' }
  | { readonly ok: false; readonly problem: 'ambiguous'; readonly grouped: Money }

/** In characters: more than any amount with its sign has. */
const LONGEST = 60
const PARTS = /^(?<before>\P{Nd}*)(?<number>\p{Nd}.*\p{Nd}|\p{Nd})(?<after>\P{Nd}*)$/su

/** Reads an amount of the currency, whose sign or code can be before or after it. */
export function readTypedAmount(text: string, currency: Currency): TypedAmount {
  const parts = text.length > LONGEST ? null : PARTS.exec(withoutCharacters(text, 'turn', 'invisible'))
  const { before = '', number = '', after = '' } = parts?.groups ?? {}
  if (/[.,\u066b]$/.test(before)) return FORMAT
  const names = [before, after].map(nameForm).filter((name) => name !== '')
  if (!names.every((name) => listSigns(currency).has(name)))
    return { ok: false, problem: names.some(isMoneySign) ? 'currency' : 'format' }
  const read = readTypedNumber(number, getDecimals(currency))
  if (read.ok) return parseAmount(read.decimal, currency)
  if (read.problem === 'format') return read
  const grouped = parseAmount(read.grouped, currency)
  return grouped.ok ? { ok: false, problem: 'ambiguous', grouped: grouped.money } : grouped
}

const isMoneySign = (name: string): boolean => /\p{Sc}/u.test(name) || isCurrency(name.toUpperCase())

/** Languages of the pages, and of the places whose currencies are accepted. */
const LANGUAGES = 'en de ar el es fr hi hu it nl pl pt ro sv cs da he is ja ko nb sr th tr zh en-GB en-IN de-CH es-MX'
const signs = new Map<Currency, ReadonlySet<string>>()

const nameForm = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/\s|(?<=\p{L})\./gu, '')
    .toLowerCase()

/** Returns how people write the currency: its code, and the signs that Unicode's CLDR has for it. */
function listSigns(currency: Currency): ReadonlySet<string> {
  const found = signs.get(currency)
  if (found !== undefined) return found
  const written = LANGUAGES.split(' ').flatMap((language) =>
    (['symbol', 'narrowSymbol'] as const).map((currencyDisplay) => signIn(language, { currency, currencyDisplay })),
  )
  const all = new Set([currency, ...written].map((sign) => nameForm(withoutCharacters(sign, 'turn', 'invisible'))))
  signs.set(currency, all)
  return all
}

function signIn(language: string, options: Pick<Intl.NumberFormatOptions, 'currency' | 'currencyDisplay'>): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', ...options })
  return format.formatToParts(1).find(({ type }) => type === 'currency')?.value ?? ''
}
