/** The headers of every answer: `answerHeaders` of all, until a page replaces them with those of its kind. */

/** For programs, files and redirects: not to be cached, framed or sniffed, and nothing in it runs. */
export const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

const TWO_YEARS_IN_SECONDS = 63_072_000

export type Transport = {
  readonly publicUrl: string
  /** Binds every host below the one of `publicUrl` to https too: only its owner knows if all of them have it. */
  readonly hstsIncludeSubdomains: boolean
}

export function answerHeaders({ publicUrl, hstsIncludeSubdomains }: Transport): Readonly<Record<string, string>> {
  if (!publicUrl.startsWith('https:')) return API_HEADERS
  const more = hstsIncludeSubdomains ? '; includeSubDomains' : ''
  return { ...API_HEADERS, 'strict-transport-security': `max-age=${TWO_YEARS_IN_SECONDS}${more}` }
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Headers of every page. They forbid inline scripts and styles, anything from another origin, and frames around the
 * page. `form-action 'self'` covers redirects after a POST too, so no form leads to a partner: a page with a link
 * does.
 */
export const PAGE_HEADERS = {
  ...API_HEADERS,
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The address may be the key to a payment: it must get into no search index, as `no-store` keeps it out of caches.
  'x-robots-tag': 'noindex, nofollow',
} as const

/**
 * Headers of a page for buyers. A shop may open it with `window.open` and look at `closed`: with any other policy than
 * its own, which is `unsafe-none` unless it set one, the browser cuts the two windows apart, and `closed` is true at once
 * (HTML, "matching cross-origin opener policies"). Nothing here can be read through the handle of another origin.
 */
export const BUYER_HEADERS = { ...PAGE_HEADERS, 'cross-origin-opener-policy': 'unsafe-none' } as const

/** Headers of a page that shows one of ours in a frame. */
export const FRAMING_HEADERS = { ...PAGE_HEADERS, 'content-security-policy': `${POLICY}; frame-src 'self'` } as const

/** Headers of a page in a frame of ours. It has nothing that can be pressed. */
export const FRAMED_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'").replace(
    "form-action 'self'",
    "form-action 'none'",
  ),
} as const

/** Headers of a page in a frame of the shop's. Only pages of `origins` can hold it; without any, no page can. */
export function shopFrameHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  if (origins.length === 0) return BUYER_HEADERS
  const policy = POLICY.replace("frame-ancestors 'none'", `frame-ancestors ${origins.join(' ')}`)
  return { ...BUYER_HEADERS, 'content-security-policy': policy }
}
