import { setTimeout as delay } from 'node:timers/promises'

export type PollOptions = { withinMs: number; everyMs: number; what: string }

/** Repeats until the condition is true. Throws if that takes too long, and what `condition` throws. */
export async function poll(condition: () => Promise<boolean>, options: PollOptions): Promise<void> {
  const deadline = Date.now() + options.withinMs
  for (;;) {
    if (await condition()) return
    if (Date.now() > deadline) throw new Error(`waited ${options.withinMs / 1000} s in vain for ${options.what}`)
    await delay(options.everyMs)
  }
}

/** Returns true if a GET is answered with 2xx. */
export async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000), redirect: 'error' })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}
