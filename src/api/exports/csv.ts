/** One line of RFC 4180. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * Spreadsheet programs would run a formula here (OWASP, CSV injection), so an apostrophe goes in front. Some programs
 * begin a cell after a tab, a line end or a semicolon, even in a quoted field; some accept full-width signs.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g

/** A sum below zero is no formula, and programs must be able to add it up. */
const BELOW_ZERO = /^-\d+\.\d+$/

function field(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  if (BELOW_ZERO.test(text)) return text
  const safe = text.replaceAll(FORMULA, "'")
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
