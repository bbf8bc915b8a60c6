import { createServer } from 'node:http'
import { readApiConfig } from '../config.ts'
import { composeApi } from '../deps/api.ts'
import { createLogger } from '../log.ts'
import { createApp } from './app.ts'

const config = readApiConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'api' })
const { deps, close } = composeApi(config, log)

// A client that sends slowly holds a socket no longer than this (node's own limits are 60 s and 300 s).
const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 }, createApp(deps))
server.listen(config.API_PORT, config.API_HOST, () => log.info({ url: config.PUBLIC_URL }, 'api ready'))

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    server.close(() => void close().finally(() => process.exit(0)))
    server.closeIdleConnections()
    // Whoever still waits for an answer gets one within this time, or asks again.
    setTimeout(() => server.closeAllConnections(), 2000).unref()
  })
