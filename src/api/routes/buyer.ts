import type { Request } from 'express'
import { isCountry } from '../../domain/countries.ts'
import { type ProviderUsed, USED_PROVIDER_NAMES } from '../../domain/methods.ts'
import type { OpenedAttempt } from '../../domain/payment/requests.ts'
import type { BuyerCountry, Device } from '../../web/checkout/checkout.ts'
import { isLocale, type Locale, localeFor } from '../../web/messages/locales.ts'

/** What a request tells about the buyer. */

const COUNTRY_COOKIE = 'pinrail_country'
const LANGUAGE_COOKIE = 'pinrail_language'
/** Of the bar of test payments. */
const DEVICE_COOKIE = 'pinrail_device'
const DOWN_COOKIE = 'pinrail_down'

/** In seconds: a week, the longest that a payment may be open. */
const COOKIE_AGE = 604_800

/** The country of an IP address; null where it is not known. */
export type Locate = (address: string) => string | null

/** Who tells where the buyer is, besides the buyer. */
export type CountryDeps = {
  /** Name of the header in which a trusted proxy puts the buyer's country. */
  readonly countryHeader?: string | undefined
  /** By the address that the request came from; null without a file of countries. */
  readonly locate?: Locate | null
}

/**
 * The buyer's own choice, else the header of a trusted proxy, else the file of countries. Null when none of them says:
 * then nothing is refused.
 */
export function buyerCountry(request: Request, { countryHeader: header, locate = null }: CountryDeps): BuyerCountry {
  const chosen = cookieOf(request, COUNTRY_COOKIE)
  if (chosen !== undefined && isCountry(chosen)) return { code: chosen, source: 'buyer' }
  const told = header === undefined ? undefined : request.get(header)?.trim().toUpperCase()
  if (told !== undefined && isCountry(told)) return { code: told, source: 'header' }
  const located = locate?.(request.ip ?? '') ?? null
  return located === null ? { code: null, source: 'unknown' } : { code: located, source: 'address' }
}

/** The buyer's own choice, else what the browser asks for. */
export function buyerLocale(request: Request): Locale {
  const chosen = cookieOf(request, LANGUAGE_COOKIE) ?? ''
  return isLocale(chosen) ? chosen : localeFor(request.get('accept-language'))
}

/** What the answer to `buyerCountry` and `buyerLocale` depends on (RFC 9110 section 12.5.5). */
export const VARY = 'accept-language, cookie'

export function countryCookie(country: string, checkoutUrl: string): string {
  return choiceCookie(COUNTRY_COOKIE, country, checkoutUrl)
}

export function languageCookie(locale: Locale, checkoutUrl: string): string {
  return choiceCookie(LANGUAGE_COOKIE, locale, checkoutUrl)
}

export const DEVICES = ['desktop', 'ios', 'android'] as const satisfies readonly Device[]

/** The device and the partner that is down, as the bar of a test payment says them; null where it does not. */
export function playedBuyer(request: Request): { readonly device: Device | null; readonly down: ProviderUsed | null } {
  const [device, down] = [cookieOf(request, DEVICE_COOKIE), cookieOf(request, DOWN_COOKIE)]
  return {
    device: DEVICES.find((name) => name === device) ?? null,
    down: USED_PROVIDER_NAMES.find((name) => name === down) ?? null,
  }
}

/** An empty choice forgets. */
export function deviceCookie(device: Device | '', checkoutUrl: string): string {
  return choiceCookie(DEVICE_COOKIE, device, checkoutUrl)
}

export function downCookie(provider: ProviderUsed | '', checkoutUrl: string): string {
  return choiceCookie(DOWN_COOKIE, provider, checkoutUrl)
}

function cookieOf(request: Request, name: string): string | undefined {
  return new RegExp(`(?:^|;\\s*)${name}=([A-Za-z_]{2,20})(?:;|$)`).exec(request.get('cookie') ?? '')?.[1]
}

/** Remembers the choice for this payment alone: the cookie's path is the payment's checkout. */
function choiceCookie(name: string, value: string, checkoutUrl: string): string {
  const { pathname, protocol } = new URL(checkoutUrl)
  const secure = protocol === 'https:' ? '; Secure' : ''
  return `${name}=${value}; Path=${pathname}; Max-Age=${COOKIE_AGE}; HttpOnly; SameSite=Lax${secure}`
}

/** Whether the device may have Apple Pay or Google Pay; null when the browser does not say what it is. */
export function hasDeviceWallet(userAgent: string | undefined): boolean | null {
  if (userAgent === undefined || userAgent === '') return null
  return /iPhone|iPad|Macintosh|Android|Chrome\//.test(userAgent)
}

/** What the buyer pays on, by what the browser says. An iPad says that it is a Mac, and gets the page of one. */
export function deviceOf(userAgent: string | undefined): Device {
  if (/Android/.test(userAgent ?? '')) return 'android'
  return /iPhone|iPad|iPod/.test(userAgent ?? '') ? 'ios' : 'desktop'
}

/**
 * Whether the buyer comes back from the partner's page just now: from the partner's own address, or by a navigation from
 * another site, as the browser says in `Sec-Fetch-Site` (W3C Fetch Metadata), that is not the shop's. It proves nothing
 * about the money. In doubt the answer is yes: who is told to wait for a moment does not pay twice.
 */
export function comesBack(
  request: Request,
  { redirectUrl, intentUri }: OpenedAttempt,
  shopUrls: readonly (string | null)[],
): boolean {
  const from = originOf(request.get('referer') ?? null)
  if (from !== null && from === originOf(redirectUrl)) return true
  if (from !== null && shopUrls.some((url) => originOf(url) === from)) return false
  // An order that is paid from our own page is left by no navigation: who comes from elsewhere comes by the link.
  if (intentUri !== null || request.get('sec-fetch-mode') !== 'navigate') return false
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '')
}

function originOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).origin : null
}
