/** Runs `stop` once when the process is asked to end, then ends it: 0, or 1 when `stop` throws. */
export function onStop(stop: () => Promise<void>): void {
  let isStopping = false
  const once = (): void => {
    if (isStopping) return
    isStopping = true
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.once('SIGTERM', once)
  process.once('SIGINT', once)
}
