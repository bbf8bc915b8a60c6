import { setTimeout as delay } from 'node:timers/promises'

/** Runs calls to a key service at a rate that it allows. */
export type Pace = {
  /** Tries again what the service refuses, and throws its last answer. */
  run<T>(call: () => Promise<T>): Promise<T>
}

export type PaceOptions = {
  /** Most calls at a time. */
  readonly most: number
  /** How often one call is made at most. */
  readonly tries: number
  /** Rest after the first refusal; twice as long after each further one. */
  readonly restMs: number
  /** A call without an answer by then counts as refused. */
  readonly deadlineMs: number
  readonly sleep: (ms: number) => Promise<unknown>
}

const DEFAULTS: PaceOptions = {
  // What settlement signs at a stretch.
  most: 25,
  tries: 4,
  restMs: 100,
  // Key services answer within 100 ms; three times a slow one.
  deadlineMs: 3000,
  sleep: delay,
}

/**
 * Every refusal halves how many calls are made at a time, and every answer lets their number grow by one a round, as TCP
 * shares a line whose capacity nobody told it. When nothing was answered for as many calls as may be made at a time, the
 * service is down: then a call is made once, and the caller tries again later.
 */
export function createPace(options: Partial<PaceOptions> = {}): Pace {
  const { most, tries, restMs, deadlineMs, sleep } = { ...DEFAULTS, ...options }
  const waiting: (() => void)[] = []
  let [width, busy, refusals] = [most, 0, 0]

  async function enter(): Promise<void> {
    while (busy >= Math.floor(width)) await new Promise<void>((resolve) => waiting.push(resolve))
    busy += 1
  }

  function leave(): void {
    busy -= 1
    for (const wake of waiting.splice(0, Math.max(1, Math.floor(width) - busy))) wake()
  }

  async function once<T>(call: () => Promise<T>): Promise<T> {
    const stop = new AbortController()
    const late = delay(deadlineMs, undefined, { signal: stop.signal }).then(() => {
      throw new Error(`the key service did not answer within ${deadlineMs} ms`)
    })
    // Nobody waits for it when the call is answered.
    late.catch(() => undefined)
    try {
      return await Promise.race([call(), late])
    } finally {
      stop.abort()
    }
  }

  return {
    async run(call) {
      for (let tried = 1; ; tried++) {
        await enter()
        try {
          const answer = await once(call)
          width = Math.min(most, width + 1 / width)
          refusals = 0
          return answer
        } catch (refusal) {
          width = Math.max(1, width / 2)
          refusals += 1
          if (tried === tries || refusals > most) throw refusal
          // It keeps its place meanwhile, which gives the service the rest.
          await sleep(restMs * 2 ** (tried - 1) * (0.5 + Math.random()))
        } finally {
          leave()
        }
      }
    },
  }
}
