/** Formats the count with its noun: `1 payment`, `2 payments`, `2 addresses`. */
export function plural(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : many}`
}
