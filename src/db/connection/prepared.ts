import type pg from 'pg'

/** A statement as the driver takes it. */
export type Asking = (text: string, values?: unknown[]) => pg.QueryConfig

/** Plans it again each time. Nothing of it stays on the connection. */
export const askOnce: Asking = (text, values) => ({ text, ...(values && { values }) })

/** The code has some four hundred. Each costs some 20 KB in every connection that has run it. */
const MOST_NAMED = 600

/**
 * Statements with values get a name, so that a connection parses and plans each of them once: that is half of what a
 * payment would cost Postgres. After 600 different texts the rest is planned each time.
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

/** Postgres' code for a plan whose columns are others now: a migration has run. */
const STALE_PLAN = '0A000'

/** Whether a connection must not be used again, because it keeps a plan that no longer fits. */
export const keepsStalePlan = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === STALE_PLAN

/** One statement that stands alone. Where its plan no longer fits it has done nothing, so it is asked again without one. */
export async function askAlone<T>(asking: Asking, ask: (asking: Asking) => Promise<T>): Promise<T> {
  try {
    return await ask(asking)
  } catch (error) {
    if (keepsStalePlan(error)) return ask(askOnce)
    throw error
  }
}
