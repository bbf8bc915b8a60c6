import { createServer, type Server } from 'node:http'
import { createHealth, type HealthCheck } from './health.ts'
import { PAGE_TYPE, type Registry } from './registry.ts'
import { createTimeouts, SERVER_TIMEOUTS, type ServerTimeouts } from './server-timeouts.ts'

/**
 * Serves operators on a dedicated port that no stranger reaches. `/healthz` answers while the process runs; `/readyz`
 * shows which part is down, with 503 if the process needs that part; `/metrics` has Prometheus' format.
 */
export function createInternalServer({
  checks,
  registry,
  patience = SERVER_TIMEOUTS,
}: {
  checks: readonly HealthCheck[]
  registry: Registry
  patience?: ServerTimeouts
}): Server {
  const healthNow = createHealth(checks)
  const pages: Record<string, () => Promise<{ status: number; type: string; text: string }>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const health = await healthNow()
      return json(health.status === 'not ready' ? 503 : 200, health)
    },
    '/metrics': async () => ({ status: 200, type: PAGE_TYPE, text: await registry.page() }),
  }
  return createServer(createTimeouts(patience), (request, response) => {
    const page = pages[request.url?.split('?')[0] ?? '']
    const answer = page === undefined ? Promise.resolve(json(404, { status: 'no such page' })) : page()
    answer
      .catch(() => json(500, { status: 'failed' }))
      .then(({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text))
      .catch(() => response.destroy())
  })
}

function json(status: number, body: object) {
  return { status, type: 'application/json', text: JSON.stringify(body) }
}

/** Listens at the configured address; without a port, does not listen. */
export async function listenInternally(
  server: Server,
  { INTERNAL_HOST: host, INTERNAL_PORT: port }: { INTERNAL_HOST: string; INTERNAL_PORT?: number | undefined },
): Promise<void> {
  if (port === undefined) return
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}
