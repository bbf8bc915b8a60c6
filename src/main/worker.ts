import { readWorkerConfig } from '../config.ts'
import { composeWorker } from '../deps/worker.ts'
import { createLogger } from '../log.ts'
import { logTemporal, runWorker } from '../worker/run.ts'

/** The process of the worker: workflows, activities, relay, settlement. Listens on nothing. */
const config = readWorkerConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'worker' })
logTemporal(log)
const { close, ...parts } = await composeWorker(config, log)
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())

const ready = (queues: string[]): void =>
  // Whoever has started it waits for this line, whatever else is to be logged.
  createLogger({ level: 'info', name: 'worker' }).info({ queues }, 'worker ready')
const code = await runWorker({ ...parts, log, ready }, stop)
await close()
process.exit(code)
