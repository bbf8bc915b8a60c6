/**
 * Headers of every page. They forbid inline scripts and styles, anything from another origin, and frames around the
 * page. `form-action 'self'` covers redirects after a POST too, so no form leads to a partner: a page with a link
 * does.
 */
const PAGE_HEADERS = {
  'content-security-policy': [
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
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The address is the key to the payment: it must get into no cache and no search index.
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
} as const

const TWO_YEARS_IN_SECONDS = 63_072_000

export function pageHeaders(publicUrl: string): Record<string, string> {
  if (!publicUrl.startsWith('https:')) return PAGE_HEADERS
  return { ...PAGE_HEADERS, 'strict-transport-security': `max-age=${TWO_YEARS_IN_SECONDS}; includeSubDomains` }
}

/** Of a page that shows one of ours in a frame. */
export function framingHeaders(publicUrl: string): Record<string, string> {
  const headers = pageHeaders(publicUrl)
  return { ...headers, 'content-security-policy': `${headers['content-security-policy']}; frame-src 'self'` }
}

/** Of a page that stands in a frame of the shop's. Pages of `origins` alone may hold it; with none of them, none may. */
export function shopFrameHeaders(publicUrl: string, origins: readonly string[]): Record<string, string> {
  const headers = pageHeaders(publicUrl)
  if (origins.length === 0) return headers
  const policy = headers['content-security-policy'] ?? ''
  const listed = policy.replace("frame-ancestors 'none'", `frame-ancestors ${origins.join(' ')}`)
  return { ...headers, 'content-security-policy': listed }
}

/** Of a page that stands in a frame of ours. It has nothing that can be pressed. */
export function framedHeaders(publicUrl: string): Record<string, string> {
  const headers = pageHeaders(publicUrl)
  const policy = headers['content-security-policy'] ?? ''
  const framed = policy
    .replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    .replace("form-action 'self'", "form-action 'none'")
  return { ...headers, 'content-security-policy': framed }
}
