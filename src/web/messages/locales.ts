/** The languages of the checkout, by their code (BCP 47). */
export const LOCALES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'ro', 'hu', 'sv', 'el', 'hi', 'ar'] as const

export type Locale = (typeof LOCALES)[number]

type Language = {
  /** The name of the language in that language. */
  readonly name: string
  readonly dir: 'ltr' | 'rtl'
  /** The locale of dates, numbers and names in `Intl`. */
  readonly formats: string
  /** The locale of amounts, if it differs. */
  readonly amounts?: string
  /** The form of a currency’s name that fits into the texts. English uses the plural: "Indian rupees". */
  readonly currencyNames: 'plural' | 'singular'
}

/**
 * English has dates with the day first and 24 hours, because most of its readers here are not American; its amounts are
 * $5, not US$5. Portuguese is that of Portugal, where the banking app is offered. Arabic uses the digits 0 to 9, because
 * an amount must look as it does on the partner's page and on the statement.
 */
export const LANGUAGES: Readonly<Record<Locale, Language>> = {
  en: { name: 'English', dir: 'ltr', formats: 'en-GB', amounts: 'en', currencyNames: 'plural' },
  de: { name: 'Deutsch', dir: 'ltr', formats: 'de', currencyNames: 'singular' },
  fr: { name: 'Français', dir: 'ltr', formats: 'fr', currencyNames: 'plural' },
  es: { name: 'Español', dir: 'ltr', formats: 'es', currencyNames: 'plural' },
  it: { name: 'Italiano', dir: 'ltr', formats: 'it', currencyNames: 'plural' },
  nl: { name: 'Nederlands', dir: 'ltr', formats: 'nl', currencyNames: 'plural' },
  pl: { name: 'Polski', dir: 'ltr', formats: 'pl', currencyNames: 'singular' },
  pt: { name: 'Português', dir: 'ltr', formats: 'pt-PT', currencyNames: 'plural' },
  ro: { name: 'Română', dir: 'ltr', formats: 'ro', currencyNames: 'singular' },
  hu: { name: 'Magyar', dir: 'ltr', formats: 'hu', currencyNames: 'singular' },
  sv: { name: 'Svenska', dir: 'ltr', formats: 'sv', currencyNames: 'plural' },
  el: { name: 'Ελληνικά', dir: 'ltr', formats: 'el', currencyNames: 'singular' },
  hi: { name: 'हिन्दी', dir: 'ltr', formats: 'hi', currencyNames: 'singular' },
  ar: { name: 'العربية', dir: 'rtl', formats: 'ar-u-nu-latn', currencyNames: 'singular' },
}

export function isLocale(text: string): text is Locale {
  return LOCALES.some((locale) => locale === text)
}

/** More than any browser sends. The rest of a longer header is ignored. */
const MAX_RANGES = 30

/**
 * Returns the available language that the browser prefers (`Accept-Language`, RFC 9110 section 12.5.4). Only the first
 * part of a tag counts: Swiss German gets German. Returns English if none is available.
 */
export function localeFor(acceptLanguage: string | undefined): Locale {
  const wanted = (acceptLanguage ?? '').split(',', MAX_RANGES).flatMap((range) => {
    const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
    const locale = tag.split('-')[0] ?? ''
    const quality = readQuality(parameters)
    return isLocale(locale) && quality > 0 ? [{ locale, quality }] : []
  })
  // The sort is stable, so the first of two equally preferred languages wins.
  return wanted.sort((a, b) => b.quality - a.quality)[0]?.locale ?? 'en'
}

function readQuality(parameters: readonly string[]): number {
  const text = parameters.map((each) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(each)?.[1]).find(Boolean)
  return parameters.length === 0 ? 1 : Number(text ?? 0)
}
