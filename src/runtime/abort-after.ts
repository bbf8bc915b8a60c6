/**
 * Aborts after `ms` milliseconds, or with the other signal. The garbage collector of Node 20 may take the time-out of
 * `AbortSignal.any([AbortSignal.timeout(ms), other])`, which then never aborts (nodejs/node#57736).
 */
export function abortAfter(ms: number, other: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const { signal } = controller
  setTimeout(() => controller.abort(new DOMException('The time is up', 'TimeoutError')), ms).unref()
  if (other.aborted) controller.abort(other.reason)
  other.addEventListener('abort', () => controller.abort(other.reason), { once: true, signal })
  return signal
}
