import { type Currency, getDecimals } from '../../domain/currencies.ts'
import { formatAmount, type Money } from '../../domain/money.ts'
import { newest } from '../newest.ts'
import { LANGUAGES, type Locale } from './locales.ts'
import { formatMoment, hasHours, type TimeStyle } from './moment.ts'
import { type Translate, type TranslateRich, translator } from './translate.ts'
import { getZone } from './zone.ts'

/** The texts and formats of one language. */
export type Words = {
  readonly locale: Locale
  readonly t: Translate
  readonly rich: TranslateRich
  readonly money: (money: Money) => string
  readonly country: (code: string) => string
  /** Joins names to a list: "A, B and C". */
  readonly list: (names: readonly string[]) => string
  /** The name of a currency: "Indian rupees", or "Indian rupee" in languages whose texts need that. */
  readonly currency: (code: Currency) => string
  /** Formats seconds: "about 30 seconds". From a minute on, whole minutes, rounded up. */
  readonly about: (seconds: number) => string
  /** Formats a time in the zone of the buyer's country, or in UTC, which the text then names. The long style always names its zone. */
  readonly moment: (iso: string, style: TimeStyle) => string
}

/** `country` is the buyer's (ISO 3166 alpha-2): a page rendered on the server does not know another time zone. */
export function wordsIn(locale: Locale, country: string | null = null): Words {
  const { formats, amounts = formats } = LANGUAGES[locale]
  const { t, rich } = translator(locale)
  const zone = getZone(country)
  const nameRegion = (code: string): string => getRegions(formats).of(code) ?? code
  // A zone is named after its country if the country has only one.
  const place = zone === 'UTC' || country === null ? 'UTC' : nameRegion(country)
  return {
    locale,
    t,
    rich,
    money: (money) => formatMoney(amounts, money),
    country: nameRegion,
    list: (names) => new Intl.ListFormat(formats, { type: 'conjunction' }).format(names),
    currency: (code) => currencyName(locale, code),
    about: (seconds) =>
      seconds < 60 ? t('about.seconds', { count: seconds }) : t('about.minutes', { count: Math.ceil(seconds / 60) }),
    moment: (iso, style) => {
      const text = formatMoment(iso, style, { formats, zone })
      if (zone === 'UTC') return hasHours(style) ? `${text} UTC` : text
      return style === 'long' ? `${text} (${place})` : text
    },
  }
}

/** One for each language, because it contains all names. */
const regions = new Map<string, Intl.DisplayNames>()

function getRegions(formats: string): Intl.DisplayNames {
  const found = regions.get(formats) ?? new Intl.DisplayNames(formats, { type: 'region' })
  regions.set(formats, found)
  return found
}

/** Creating a formatter takes fifty times as long as using it. */
const amountFormats = newest<Intl.NumberFormat>(200)

function currencyName(locale: Locale, currency: Currency): string {
  const { formats, currencyNames } = LANGUAGES[locale]
  if (currencyNames === 'singular') return new Intl.DisplayNames(formats, { type: 'currency' }).of(currency) ?? currency
  const format = new Intl.NumberFormat(formats, { style: 'currency', currency, currencyDisplay: 'name' })
  // 100 takes the plural in every language that has one.
  return format.formatToParts(100).find(({ type }) => type === 'currency')?.value ?? currency
}

/** With the decimals of ISO 4217, not those of Intl. Formats decimal text, so no digit is lost. */
function formatMoney(amounts: string, money: Money): string {
  const decimals = getDecimals(money.currency)
  const { currency } = money
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const made = () => new Intl.NumberFormat(amounts, { style: 'currency', currency, ...digits })
  return amountFormats(`${amounts} ${currency}`, made).format(formatAmount(money) as Intl.StringNumericLiteral)
}
