import { type RequestHandler, Router } from 'express'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { onlyMethods } from '../route.ts'

/** In seconds. Most answers take milliseconds; a checkout that waits for a partner takes seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** What waits for a person, counted for each kind. */
type CountAttention = () => Promise<readonly { kind: string; count: number; oldest_seconds: number }[]>

export type Metrics = { readonly measure: RequestHandler; readonly router: Router }

/** `GET /metrics` in Prometheus' text format: the process, and the duration of each route. No merchant's data. */
export function createMetrics(countAttention: CountAttention): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by route.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })
  watchAttention(registry, countAttention)
  const router = Router()
  router.get('/metrics', async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics())
  })
  router.all('/metrics', onlyMethods(['GET']))

  return {
    router,
    measure: (request, response, next) => {
      const end = durations.startTimer()
      response.once('finish', () => {
        // The route's pattern, not the path: each id would make a series. Unmatched paths share one series.
        const route = (request.route as { path?: unknown } | undefined)?.path
        const known = typeof route === 'string'
        end({
          method: known ? request.method : 'other',
          route: known ? route : 'unmatched',
          status: String(response.statusCode),
        })
      })
      next()
    },
  }
}

/** Read when it is asked for: the list is short. Without an answer there is no series, because an old one would hide money. */
function watchAttention(registry: Registry, countAttention: CountAttention): void {
  const gauge = (name: string, help: string, value: (of: { count: number; oldest_seconds: number }) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['kind'] as const,
      registers: [registry],
      async collect() {
        const counts = await countAttention().catch(() => [])
        this.reset()
        for (const entry of counts) this.set({ kind: entry.kind }, value(entry))
      },
    })
  gauge('pinrail_attention', 'Money and time that wait for a person, by kind.', ({ count }) => count)
  gauge('pinrail_attention_oldest_seconds', 'Age of what has waited longest, by kind.', (entry) => entry.oldest_seconds)
}
