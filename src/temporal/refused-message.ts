/**
 * What stands in a workflow for an argument that was refused: the codec puts it there, the interceptor finds it. Part of
 * the workflow bundle, so that this file imports nothing.
 */
export type RefusedMessage = { readonly 'pinrail.refused': string }

const NAME = 'pinrail.refused'

export const refusedMessage = (why: string): RefusedMessage => ({ [NAME]: why })

/** Why one of the arguments was refused; null when none was. */
export function refusalOf(args: readonly unknown[]): string | null {
  for (const arg of args)
    if (typeof arg === 'object' && arg !== null && NAME in arg && typeof arg[NAME] === 'string') return arg[NAME]
  return null
}
