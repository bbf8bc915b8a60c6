import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type Noise = {
  /** The lanes request them one after the other. */
  readonly urls: readonly string[]
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly lanes: number
  readonly most: number
}

/** Number of responses with each status; `error` for no response. */
export type Answers = Readonly<Record<string, number>>

/** Begins to send. `stop` ends it and returns the numbers of responses. */
export function startNoise(noise: Noise): { readonly stop: () => Promise<Answers> } {
  const child = fork(fileURLToPath(new URL('./noise.mjs', import.meta.url)))
  const received = once(child, 'message') as Promise<[Answers]>
  const ended = once(child, 'exit')
  child.send(noise)
  return {
    stop: async () => {
      // It may have sent all and ended.
      if (child.connected) child.send('stop', () => undefined)
      const [answers] = await received
      await ended
      return answers
    },
  }
}
