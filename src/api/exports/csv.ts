/** One line of RFC 4180. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * The places that get an apostrophe in front, because spreadsheet programs would run a formula there (OWASP, CSV
 * injection): also after a tab, a line end or a semicolon, at which some programs begin a cell even if the field is
 * quoted, and in full width.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g

function field(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = text.replaceAll(FORMULA, "'")
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
