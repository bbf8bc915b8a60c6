import { readWorkerConfig } from '../config/config.ts'
import { composeWorker } from '../deps/worker.ts'
import { createInternalServer, listenInternally } from '../runtime/internal-server.ts'
import { createLogger } from '../runtime/log.ts'
import { logTemporal, runWorker } from '../worker/run.ts'

/** The process of the worker: workflows, activities, relay, settlement. It serves only operators. */
const config = readWorkerConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'worker' })
logTemporal(log, config.WORKER_SDK_METRICS)
const { close, checks, registry, ...parts } = await composeWorker(config, log)
const internal = createInternalServer({ checks, registry })
await listenInternally(internal, config)
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())

const ready = (queues: string[]): void =>
  // Whoever has started the worker waits for this line, whatever the level of the log is.
  createLogger({ level: 'info', name: 'worker' }).info({ queues }, 'worker ready')
const code = await runWorker({ ...parts, log, ready }, stop)
internal.close()
internal.closeAllConnections()
await close()
process.exit(code)
