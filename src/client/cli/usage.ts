/** Wrong words of the command, or a variable that is missing. */
export class UsageError extends Error {}

export const readEnvironment = (): Readonly<Record<string, string | undefined>> => process.env

export function readVariable(name: 'PINRAIL_API_KEY' | 'PINRAIL_URL'): string {
  const value = readEnvironment()[name]
  if (value === undefined || value === '') throw new UsageError(`Set ${name}.`)
  return value
}
