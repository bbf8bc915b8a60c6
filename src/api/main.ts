import { readApiConfig } from '../config.ts'
import { composeApi } from '../deps/api.ts'
import { createLogger } from '../log.ts'
import { createApp } from './app.ts'
import { createApiServer } from './server.ts'

const config = readApiConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'api' })
const { deps, close } = composeApi(config, log)

const server = createApiServer(createApp(deps), {
  publicUrl: config.PUBLIC_URL,
  newRequestId: () => deps.newId('request'),
})
server.listen(config.API_PORT, config.API_HOST, () => log.info({ url: config.PUBLIC_URL }, 'api ready'))

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    server.close(() => void close().finally(() => process.exit(0)))
    server.closeIdleConnections()
    // Whoever still waits for an answer gets one within this time, or asks again.
    setTimeout(() => server.closeAllConnections(), 2000).unref()
  })
