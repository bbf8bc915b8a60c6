/** The headers of responses. Every response has `answerHeaders`; a page replaces them with the headers of its kind. */

/** The headers of responses for programs, files and redirects: no cache, no frame, no sniffing, no scripts. */
export const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const

const AN_HOUR_IN_SECONDS = 3600

/** The headers of a script at a permanent URL, which pages of any shop load. */
export const SHOP_SCRIPT_HEADERS = {
  'cache-control': `public, max-age=${AN_HOUR_IN_SECONDS}`,
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const

const TWO_YEARS_IN_SECONDS = 63_072_000

export type Transport = {
  readonly publicUrl: string
  /** True if HSTS includes the subdomains of `publicUrl`. Only the owner knows if all of them serve https. */
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
 * The headers of every page. They forbid inline scripts and styles, anything from another origin, and frames around the
 * page. `form-action 'self'` also covers redirects after a POST, so a page with a link leads to a partner, not a form.
 */
export const PAGE_HEADERS = {
  ...API_HEADERS,
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The URL can give access to a payment, so it must stay out of search indexes. `no-store` keeps it out of caches.
  'x-robots-tag': 'noindex, nofollow',
} as const

/**
 * The headers of a page for buyers. A merchant's page can open it with `window.open` and read `closed`. If the policies
 * of the two pages differ, the browser separates the windows, and `closed` is true at once (HTML, "matching
 * cross-origin opener policies"). A merchant's policy is `unsafe-none` by default. Another origin cannot read the
 * page through the handle.
 */
export const BUYER_HEADERS = { ...PAGE_HEADERS, 'cross-origin-opener-policy': 'unsafe-none' } as const

/** The headers of a page that shows another page of this server in a frame. */
export const FRAMING_HEADERS = { ...PAGE_HEADERS, 'content-security-policy': `${POLICY}; frame-src 'self'` } as const

/** The headers of a page in a frame of this server. Its forms cannot be sent. */
export const FRAMED_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'").replace(
    "form-action 'self'",
    "form-action 'none'",
  ),
} as const

/** The headers of a page in a merchant's frame. Only pages of `origins` can contain it; an empty list allows none. */
export function merchantFrameHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  if (origins.length === 0) return BUYER_HEADERS
  const policy = POLICY.replace("frame-ancestors 'none'", `frame-ancestors ${origins.join(' ')}`)
  return { ...BUYER_HEADERS, 'content-security-policy': policy }
}
