import type { Request, Response } from 'express'
import { isCountry } from '../../domain/countries.ts'
import { type ProviderUsed, USED_PROVIDER_NAMES } from '../../domain/methods.ts'
import type { OpenedAttempt } from '../../domain/payment/requests.ts'
import type { BuyerCountry, Device } from '../../web/checkout/checkout.ts'
import { isLocale, type Locale, localeFor } from '../../web/messages/locales.ts'
import type { Words } from '../../web/messages/words.ts'

const COUNTRY_COOKIE = 'pinrail_country'
const LANGUAGE_COOKIE = 'pinrail_language'
/** Cookies of the bar of test payments. */
const DEVICE_COOKIE = 'pinrail_device'
const DOWN_COOKIE = 'pinrail_down'

/** Seconds: a week, the longest that a payment can be open. */
const COOKIE_AGE = 604_800

/** Null if the country is not known. */
export type Locate = (address: string) => string | null

export type CountryDeps = {
  /** Set by a trusted proxy. */
  readonly countryHeader?: string | undefined
  /** Null without a file of countries. */
  readonly locate?: Locate | null
}

/**
 * The buyer's choice, else the header of a trusted proxy, else the file of countries. Without a country nothing is
 * refused because of it.
 */
export function buyerCountry(request: Request, { countryHeader: header, locate = null }: CountryDeps): BuyerCountry {
  const chosen = readCookie(request, COUNTRY_COOKIE)
  if (chosen !== undefined && isCountry(chosen)) return { code: chosen, source: 'buyer' }
  const given = header === undefined ? undefined : request.get(header)?.trim().toUpperCase()
  if (given !== undefined && isCountry(given)) return { code: given, source: 'header' }
  const located = locate?.(request.ip ?? '') ?? null
  return located === null ? { code: null, source: 'unknown' } : { code: located, source: 'address' }
}

export function buyerLocale(request: Request): Locale {
  const chosen = readCookie(request, LANGUAGE_COOKIE) ?? ''
  return isLocale(chosen) ? chosen : localeFor(request.get('accept-language'))
}

/** In the language of its words. */
export function sendPage(response: Response, { locale }: Words, page: string): void {
  response.set('content-language', locale).type('html').send(page)
}

/** The headers that `buyerCountry` and `buyerLocale` read (RFC 9110 section 12.5.5). */
export const VARY = 'accept-language, cookie'

export function countryCookie(country: string, checkoutUrl: string): string {
  return choiceCookie(COUNTRY_COOKIE, country, checkoutUrl)
}

export function languageCookie(locale: Locale, checkoutUrl: string): string {
  return choiceCookie(LANGUAGE_COOKIE, locale, checkoutUrl)
}

export const DEVICES = ['desktop', 'ios', 'android'] as const satisfies readonly Device[]

/** Null for each that the bar of a test payment does not simulate. */
export function readSimulatedBuyer(request: Request): {
  readonly device: Device | null
  readonly down: ProviderUsed | null
} {
  const [device, down] = [readCookie(request, DEVICE_COOKIE), readCookie(request, DOWN_COOKIE)]
  return {
    device: DEVICES.find((name) => name === device) ?? null,
    down: USED_PROVIDER_NAMES.find((name) => name === down) ?? null,
  }
}

/** An empty choice removes the cookie. */
export function deviceCookie(device: Device | '', checkoutUrl: string): string {
  return choiceCookie(DEVICE_COOKIE, device, checkoutUrl)
}

export function downCookie(provider: ProviderUsed | '', checkoutUrl: string): string {
  return choiceCookie(DOWN_COOKIE, provider, checkoutUrl)
}

function readCookie(request: Request, name: string): string | undefined {
  return new RegExp(`(?:^|;\\s*)${name}=([A-Za-z_]{2,20})(?:;|$)`).exec(request.get('cookie') ?? '')?.[1]
}

/** The cookie's path is the payment's checkout. */
function choiceCookie(name: string, value: string, checkoutUrl: string): string {
  const { pathname, protocol } = new URL(checkoutUrl)
  const secure = protocol === 'https:' ? '; Secure' : ''
  return `${name}=${value}; Path=${pathname}; Max-Age=${COOKIE_AGE}; HttpOnly; SameSite=Lax${secure}`
}

/** Null if the browser does not identify the device. */
export function hasDeviceWallet(userAgent: string | undefined): boolean | null {
  if (userAgent === undefined || userAgent === '') return null
  return /iPhone|iPad|Macintosh|Android|Chrome\//.test(userAgent)
}

/** An iPad identifies as a Mac, and gets the page for one. */
export function detectDevice(userAgent: string | undefined): Device {
  if (/Android/.test(userAgent ?? '')) return 'android'
  return /iPhone|iPad|iPod/.test(userAgent ?? '') ? 'ios' : 'desktop'
}

/**
 * The buyer comes from the partner's own origin, or by a navigation from another site (`Sec-Fetch-Site`, W3C Fetch
 * Metadata) that is not the merchant's. It proves nothing about the money. In doubt it is true: a buyer who is asked to
 * wait does not pay twice.
 */
export function comesBack(
  request: Request,
  { redirectUrl, intentUri }: OpenedAttempt,
  shopUrls: readonly (string | null)[],
): boolean {
  const from = parseOrigin(request.get('referer') ?? null)
  if (from !== null && from === parseOrigin(redirectUrl)) return true
  if (from !== null && shopUrls.some((url) => parseOrigin(url) === from)) return false
  // A buyer who pays on the checkout does not navigate away: an arrival from elsewhere came by the link.
  if (intentUri !== null || request.get('sec-fetch-mode') !== 'navigate') return false
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '')
}

function parseOrigin(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).origin : null
}
