import { DefaultLogger, Runtime, type Worker } from '@temporalio/worker'
import type { Logger } from '../runtime/log.ts'
import { type Loop, runLoop } from './loop.ts'

/**
 * Logs Temporal's lines with the process's logger, serves its metrics at the address, and leaves signals to the
 * process, which stops loops, then activities, then connections.
 */
export function logTemporal(log: Logger, metricsAddress: string | undefined): void {
  Runtime.install({
    shutdownSignals: [],
    ...(metricsAddress !== undefined && {
      telemetryOptions: { metrics: { prometheus: { bindAddress: metricsAddress } } },
    }),
    logger: new DefaultLogger('WARN', ({ level, message, meta }) =>
      log[level === 'ERROR' ? 'error' : 'warn'](meta ?? {}, message),
    ),
  })
}

export type RunningParts = {
  readonly workers: readonly Worker[]
  readonly settlement: { run(signal: AbortSignal): Promise<void> }
  readonly loops: readonly Loop[]
  readonly log: Logger
  /** Called when everything runs, with the task queues that are polled. */
  readonly ready: (queues: string[]) => void
}

/**
 * Runs until `stop` is aborted, then lets running work finish. Returns the exit code: 1 if the worker fails or
 * settlement must not run, so that the supervisor of the process starts it again.
 */
export async function runWorker({ workers, settlement, loops, log, ready }: RunningParts, stop: AbortController) {
  const running = workers.map((worker) => worker.run())
  const own = createSignals(stop.signal)
  const background = [settlement.run(own()), ...loops.map((loop) => runLoop(loop, own()))]
  ready(workers.map((worker) => worker.options.taskQueue))
  const code = await Promise.race([...running, Promise.all(background)]).then(
    () => 0,
    (error: unknown) => {
      log.error({ err: error }, 'the worker ends')
      return 1
    },
  )
  stop.abort()
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  await Promise.allSettled([...running, ...background])
  return code
}

/**
 * Returns a function that creates a signal for each part that runs, aborted with the one of the process. Node warns of
 * a leak if more than ten parts listen to one signal, and a warning that is always there hides one that means
 * something.
 */
function createSignals(stop: AbortSignal): () => AbortSignal {
  const made: AbortController[] = []
  stop.addEventListener('abort', () => made.forEach((one) => one.abort()), { once: true })
  return () => {
    const one = new AbortController()
    if (stop.aborted) one.abort()
    made.push(one)
    return one.signal
  }
}
