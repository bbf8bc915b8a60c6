/** One line of RFC 4180. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * What looks like a formula gets an apostrophe in front: programs for tables would run it (OWASP, CSV injection). Also
 * after a tab, a line end or a semicolon, at which some of them begin a cell, whatever is quoted; and in full width.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g

function field(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = text.replaceAll(FORMULA, "'")
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
