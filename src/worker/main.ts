import { DefaultLogger, Runtime } from '@temporalio/worker'
import { readWorkerConfig } from '../config.ts'
import { composeWorker } from '../deps/worker.ts'
import { createLogger } from '../log.ts'
import { runLoop } from './loop.ts'

const config = readWorkerConfig()
const log = createLogger({ level: config.LOG_LEVEL, name: 'worker' })
// The order of the end is ours: loops, then activities, then connections. Temporal's lines go to our log.
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN', ({ level, message, meta }) =>
    log[level === 'ERROR' ? 'error' : 'warn'](meta ?? {}, message),
  ),
})

const { workers, settlement, loops, close } = await composeWorker(config, log)
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())

const running = workers.map((worker) => worker.run())
const background = [settlement.run(stop.signal), ...loops.map((loop) => runLoop(loop, stop.signal))]
// Whoever has started it waits for this line, whatever else is to be logged.
const queues = workers.map((worker) => worker.options.taskQueue)
createLogger({ level: 'info', name: 'worker' }).info({ queues }, 'worker ready')

// A worker that fails, or a settlement that must not run, ends the process: whoever supervises it starts it again.
const ended = Promise.race([...running, Promise.all(background)]).then(
  () => 0,
  (error: unknown) => {
    log.error({ err: error }, 'the worker ends')
    return 1
  },
)
const code = await ended
stop.abort()
for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
await Promise.allSettled([...running, ...background])
await close()
process.exit(code)
