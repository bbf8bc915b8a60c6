import { type Currency, decimalsOf } from '../../domain/currencies.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import { type Locale, type Translate, translator } from './translate.ts'
import { placeOf, type Zone, zoneOf } from './zone.ts'

/** How a moment is written: 14:03, 14:03:12, 22 Nov, 14:09, or 22 November 2026 at 14:09. */
export type TimeStyle = 'time' | 'seconds' | 'day' | 'long'

/** The texts and formats of one language. */
export type Words = {
  readonly locale: Locale
  readonly t: Translate
  readonly money: (money: Money) => string
  readonly country: (code: string) => string
  /** Several of something, as one would say them: "A, B and C". */
  readonly list: (names: readonly string[]) => string
  /** The name of a currency in the plural: "Indian rupees". */
  readonly currency: (code: Currency) => string
  /** From a number of seconds: whole seconds below a minute, then whole minutes, rounded up. */
  readonly duration: (seconds: number) => string
  /** In the zone of the buyer's country, or in UTC, which is then said. A long one names its zone always. */
  readonly moment: (iso: string, style: TimeStyle) => string
}

/** English dates are written day first and with 24 hours: most who read them here are no Americans. */
const DATE_LOCALES: Readonly<Record<Locale, string>> = { en: 'en-GB' }

const HOURS = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

const TIME_STYLES: Readonly<Record<TimeStyle, Intl.DateTimeFormatOptions>> = {
  time: HOURS,
  seconds: { ...HOURS, second: '2-digit' },
  day: { ...HOURS, day: 'numeric', month: 'short' },
  long: { ...HOURS, day: 'numeric', month: 'long', year: 'numeric' },
}

/** `country` is the buyer's (ISO 3166 alpha-2): a page rendered on the server does not know another time zone. */
export function wordsIn(locale: Locale, country: string | null = null): Words {
  const regions = new Intl.DisplayNames(locale, { type: 'region' })
  const zone = zoneOf(country)
  const amount = (unit: 'second' | 'minute', value: number): string =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  return {
    locale,
    t: translator(locale),
    money: (money) => formatMoney(locale, money),
    country: (code) => regions.of(code) ?? code,
    list: (names) => new Intl.ListFormat(DATE_LOCALES[locale], { type: 'conjunction' }).format(names),
    currency: (code) => currencyName(locale, code),
    duration: (seconds) => (seconds < 60 ? amount('second', seconds) : amount('minute', Math.ceil(seconds / 60))),
    moment: (iso, style) => formatMoment(iso, style, { locale: DATE_LOCALES[locale], zone }),
  }
}

function formatMoment(iso: string, style: TimeStyle, { locale, zone }: { locale: string; zone: Zone }): string {
  const text = new Intl.DateTimeFormat(locale, { ...TIME_STYLES[style], timeZone: zone }).format(new Date(iso))
  if (zone === 'UTC') return `${text} UTC`
  return style === 'long' ? `${text} (${placeOf(zone)})` : text
}

function currencyName(locale: Locale, currency: Currency): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'name' })
  // Any number that takes the plural in every language that has one.
  return format.formatToParts(100).find(({ type }) => type === 'currency')?.value ?? currency
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
