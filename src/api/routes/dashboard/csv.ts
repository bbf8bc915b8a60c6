/** One line of RFC 4180. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(field).join(',')}\r\n`
}

/**
 * A text that begins like a formula gets an apostrophe in front: programs for tables would run it (OWASP, CSV
 * injection). Numbers are written as they are.
 */
function field(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
