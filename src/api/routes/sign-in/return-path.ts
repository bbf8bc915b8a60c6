/** In characters: more than any page of ours needs. */
const LONGEST = 1000

/**
 * Where to go after signing in: a page of the dashboard, or its beginning for anything else. A browser takes `//host`
 * and `/\host` for another site, so what stands after the first part is looked at too.
 */
export function pathOfOurs(to: unknown): string {
  const home = '/dashboard'
  if (typeof to !== 'string' || to.length > LONGEST || !/^\/dashboard(?:[/?][\x21-\x7e]*)?$/.test(to)) return home
  if (to.includes('\\') || to.includes('//')) return home
  const parsed = URL.canParse(to, 'https://pinrail.invalid') ? new URL(to, 'https://pinrail.invalid') : null
  if (parsed?.origin !== 'https://pinrail.invalid' || !/^\/dashboard(?:\/|$)/.test(parsed.pathname)) return home
  return `${parsed.pathname}${parsed.search}`
}
