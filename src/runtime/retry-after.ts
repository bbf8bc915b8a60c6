/** The date format that RFC 9110, 5.6.7 requires. `Date.parse` alone accepts almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the seconds from `now` (Unix milliseconds) until the time in a `Retry-After` header (RFC 9110, 10.2.3): 0 if
 * it has passed, null if the header is absent or unreadable. Each caller has a bound for how long it waits.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  return HTTP_DATE.test(text) ? Math.max(0, Math.ceil((Date.parse(text) - now) / 1000)) : null
}
