import type { Logger } from '../log.ts'

/** Runs `stop` once when the process is asked to end, then ends it: 0, or 1 when `stop` throws, with the error in the log. */
export function onStop(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false
  const once = (): void => {
    if (isStopping) return
    isStopping = true
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the process could not end in order')
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', once)
  process.once('SIGINT', once)
}
