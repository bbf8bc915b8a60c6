/** A part that the process depends on. `needed`: without it the process can do nothing; else it does less. */
export type HealthCheck = { readonly name: string; readonly needed: boolean; readonly check: () => Promise<void> }

export type Health = {
  readonly status: 'ready' | 'degraded' | 'not ready'
  /** `ok`, `failed` or `no answer`, by the name of the part. */
  readonly checks: Readonly<Record<string, string>>
}

/** A part that does not answer within this time counts as down (milliseconds). */
const CHECK_TIMEOUT_MS = 2000

/** An answer serves all who ask within this time (milliseconds): anybody may ask, and the parts are not asked for each. */
const KEPT_MS = 500

/** How the parts are. They are asked once for everybody who asks meanwhile. */
export function createHealth(checks: readonly HealthCheck[], clock: () => number = Date.now): () => Promise<Health> {
  let answer: Promise<Health> | undefined
  let keptUntil = Number.POSITIVE_INFINITY
  return () => {
    if (answer === undefined || clock() >= keptUntil) {
      keptUntil = Number.POSITIVE_INFINITY
      answer = healthOf(checks).finally(() => {
        keptUntil = clock() + KEPT_MS
      })
    }
    return answer
  }
}

async function healthOf(checks: readonly HealthCheck[]): Promise<Health> {
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
