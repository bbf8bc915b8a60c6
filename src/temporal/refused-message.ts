/** The codec sets it, the interceptor finds it. Part of the workflow bundle, so this file imports nothing. */
export type RefusedMessage = { readonly 'pinrail.refused': string }

const NAME = 'pinrail.refused'

export const refusedMessage = (why: string): RefusedMessage => ({ [NAME]: why })

/** Returns why one of the arguments was refused; null if none was. */
export function findRefusal(args: readonly unknown[]): string | null {
  for (const arg of args)
    if (typeof arg === 'object' && arg !== null && NAME in arg && typeof arg[NAME] === 'string') return arg[NAME]
  return null
}
