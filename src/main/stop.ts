import type { Logger } from '../runtime/log.ts'

/**
 * Runs `stop` once on SIGTERM or SIGINT, then ends the process: with 0, or with 1 if `stop` throws, after logging the
 * error.
 */
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
