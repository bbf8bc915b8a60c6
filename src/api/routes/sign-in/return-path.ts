/** Characters. */
const LONGEST = 1000

/**
 * Returns the overview unless `to` is a page of the dashboard. A browser treats `//host` and `/\host` as another site,
 * so the rest of the path is checked too.
 */
export function readReturnPath(to: unknown): string {
  const home = '/dashboard'
  if (typeof to !== 'string' || to.length > LONGEST || !/^\/dashboard(?:[/?][\x21-\x7e]*)?$/.test(to)) return home
  if (to.includes('\\') || to.includes('//')) return home
  const parsed = URL.canParse(to, 'https://pinrail.invalid') ? new URL(to, 'https://pinrail.invalid') : null
  if (parsed?.origin !== 'https://pinrail.invalid' || !/^\/dashboard(?:\/|$)/.test(parsed.pathname)) return home
  return `${parsed.pathname}${parsed.search}`
}
