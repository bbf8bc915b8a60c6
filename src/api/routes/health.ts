import { Router } from 'express'
import { createHealth, type HealthCheck } from '../../runtime/health.ts'
import { onlyMethods } from '../route.ts'

/**
 * For load balancers: `/readyz` is 503 while a part is down that every request needs. Without Temporal a payment is
 * still accepted, and started later.
 */
export function healthRouter(checks: readonly HealthCheck[]): Router {
  const router = Router()
  const healthNow = createHealth(checks)
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request, response) => {
    const health = await healthNow()
    response.status(health.status === 'not ready' ? 503 : 200).json(health)
  })
  router.all(['/healthz', '/readyz'], onlyMethods(['GET']))
  return router
}
