/** A part that the process depends on. `needed`: without it the process can do nothing; else it does less. */
export type HealthCheck = { readonly name: string; readonly needed: boolean; readonly check: () => Promise<void> }

export type Health = {
  readonly status: 'ready' | 'degraded' | 'not ready'
  /** `ok`, `failed` or `no answer`, by the name of the part. */
  readonly checks: Readonly<Record<string, string>>
}

/** Milliseconds after which a part that does not answer counts as down. */
const CHECK_TIMEOUT_MS = 2000

/** Milliseconds for which one answer serves all requests: anybody may ask, and the parts are not checked for each. */
const CACHED_MS = 500

/** Returns the state of the parts, which are checked once for all requests at the same time. */
export function createHealth(checks: readonly HealthCheck[], clock: () => number = Date.now): () => Promise<Health> {
  let answer: Promise<Health> | undefined
  let cachedUntil = Number.POSITIVE_INFINITY
  return () => {
    if (answer === undefined || clock() >= cachedUntil) {
      cachedUntil = Number.POSITIVE_INFINITY
      answer = readHealth(checks).finally(() => {
        cachedUntil = clock() + CACHED_MS
      })
    }
    return answer
  }
}

async function readHealth(checks: readonly HealthCheck[]): Promise<Health> {
  const results = await Promise.all(checks.map(async (part) => ({ ...part, result: await outcome(part.check) })))
  const down = results.filter(({ result }) => result !== 'ok')
  const status = down.length === 0 ? 'ready' : down.some(({ needed }) => needed) ? 'not ready' : 'degraded'
  return { status, checks: Object.fromEntries(results.map(({ name, result }) => [name, result])) }
}

async function outcome(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer'), CHECK_TIMEOUT_MS)
  })
  const answered = check().then(
    () => 'ok',
    () => 'failed',
  )
  const result = await Promise.race([answered, late])
  clearTimeout(timer)
  return result
}
