import { createApp } from '../api/app.ts'
import { createApiServer, stopApiServer } from '../api/http/server.ts'
import { readApiConfig } from '../config/config.ts'
import { composeApi } from '../deps/api.ts'
import { createInternalServer, listenInternally } from '../runtime/internal-server.ts'
import { createLogger } from '../runtime/log.ts'
import { listen } from './listen.ts'
import { onStop } from './stop.ts'

/** The process of the API: checkout, `/v1`, callbacks of the partners. */
const config = readApiConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'api' })
const { deps, close } = await composeApi(config, log)
const newRequestId = (): string => deps.newId('request')
const app = createApp(deps)
const servers = await listen(() => createApiServer(app, { ...deps, newRequestId }), {
  host: config.API_HOST,
  port: config.API_PORT,
})
log.info({ url: config.PUBLIC_URL }, 'api ready')

const internal = createInternalServer({ checks: deps.healthChecks, registry: deps.registry })
await listenInternally(internal, config)

onStop(log, async () => {
  // Their responses do not end until they are closed.
  deps.openPages.close()
  deps.eventWaits.close()
  await Promise.all(servers.map((server) => stopApiServer(server, config.API_DRAIN_MS)))
  await close()
  internal.close()
  internal.closeAllConnections()
})
