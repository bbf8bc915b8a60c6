/** The date form of RFC 9110 5.6.7 that senders must use; `Date.parse` alone takes almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Seconds that a `Retry-After` header asks for, from `now` (unix milliseconds); null when absent, past or unreadable. */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (!HTTP_DATE.test(text)) return null
  const seconds = Math.ceil((Date.parse(text) - now) / 1000)
  return seconds > 0 ? seconds : null
}
