import type pg from 'pg'

export type Asking = (text: string, values?: unknown[]) => pg.QueryConfig

/** Plans the statement each time, and leaves nothing on the connection. */
export const askOnce: Asking = (text, values) => ({ text, ...(values && { values }) })

/** The code has about four hundred statements. Each uses about 20 KB in every connection that has run it. */
const MOST_NAMED = 600

/**
 * Gives statements with values a name, so that a connection parses and plans each of them once: that saves Postgres
 * half of a payment's cost. After 600 different texts the others are planned each time.
 */
export function createPrepared(): Asking {
  const names = new Map<string, string>()
  return (text, values) => {
    if (values === undefined) return { text }
    const known = names.get(text)
    if (known !== undefined) return { name: known, text, values }
    if (names.size === MOST_NAMED) return { text, values }
    const name = `pinrail_${names.size + 1}`
    names.set(text, name)
    return { name, text, values }
  }
}

/** Postgres' code for a plan whose columns have changed: a migration has run. */
const STALE_PLAN = '0A000'

/** True if a connection must not be used again, because its plan is out of date. */
export const keepsStalePlan = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === STALE_PLAN

/** Runs a single statement. If its plan is out of date it has done nothing, so it runs again without a stored plan. */
export async function askAlone<T>(asking: Asking, ask: (asking: Asking) => Promise<T>): Promise<T> {
  try {
    return await ask(asking)
  } catch (error) {
    if (keepsStalePlan(error)) return ask(askOnce)
    throw error
  }
}
