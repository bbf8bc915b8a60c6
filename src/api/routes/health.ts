import { Router } from 'express'
import { onlyMethods } from '../route.ts'

export type HealthCheck = { readonly name: string; readonly check: () => Promise<void> }

/** A dependency that does not answer within this time counts as down. */
const CHECK_TIMEOUT_MS = 2000

/** `/healthz` answers while the process runs. `/readyz` is 503 unless all checks pass, and names those that do not. */
export function healthRouter(checks: readonly HealthCheck[]): Router {
  const router = Router()
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const results = await Promise.all(checks.map(async ({ name, check }) => [name, await outcome(check)] as const))
    const ready = results.every(([, result]) => result === 'ok')
    response
      .status(ready ? 200 : 503)
      .json({ status: ready ? 'ready' : 'not ready', checks: Object.fromEntries(results) })
  })
  router.all(['/healthz', '/readyz'], onlyMethods(['GET']))
  return router
}

async function outcome(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('no answer'), CHECK_TIMEOUT_MS)
  })
  const result = await Promise.race([
    check().then(
      () => 'ok',
      () => 'failed',
    ),
    late,
  ])
  clearTimeout(timer)
  return result
}
