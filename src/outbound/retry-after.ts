/** The date format that RFC 9110, 5.6.7 requires. `Date.parse` alone accepts almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the seconds from `now` (Unix milliseconds) until a `Retry-After`; null if it is absent, past or unreadable.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (!HTTP_DATE.test(text)) return null
  const seconds = Math.ceil((Date.parse(text) - now) / 1000)
  return seconds > 0 ? seconds : null
}
