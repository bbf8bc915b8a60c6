import { decimalsOf } from '../../domain/currencies.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import { type Locale, type Translate, translator } from './translate.ts'

/** The texts and formats of one language. */
export type Words = {
  readonly locale: Locale
  readonly t: Translate
  readonly money: (money: Money) => string
  readonly country: (code: string) => string
  /** From a number of seconds: whole seconds up to 90, then whole minutes, rounded up. */
  readonly duration: (seconds: number) => string
  readonly dateTime: (iso: string) => string
}

export function wordsIn(locale: Locale): Words {
  const regions = new Intl.DisplayNames(locale, { type: 'region' })
  // UTC, said in the text: a page rendered on the server does not know the buyer's time zone.
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const amount = (unit: 'second' | 'minute', value: number): string =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  return {
    locale,
    t: translator(locale),
    money: (money) => formatMoney(locale, money),
    country: (code) => regions.of(code) ?? code,
    duration: (seconds) => (seconds <= 90 ? amount('second', seconds) : amount('minute', Math.ceil(seconds / 60))),
    dateTime: (iso) => `${moments.format(new Date(iso))} UTC`,
  }
}

/** With the decimals of ISO 4217, not those of Intl. Formats decimal text, so no digit is lost. */
function formatMoney(locale: Locale, money: Money): string {
  const decimals = decimalsOf(money.currency)
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: money.currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  return format.format(formatAmount(money) as Intl.StringNumericLiteral)
}
