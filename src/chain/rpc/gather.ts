import type { RpcNode } from './node.ts'

/** The nodes of a deployment, as the parts of this folder share them. */
export type Nodes = {
  readonly quorum: number
  /** Those worth asking, the soundest first; the others too when these are fewer than a quorum. */
  asked(): RpcNode[]
  /** As Rpc has it. */
  agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null>
}

export type Answer<T> = { readonly node: RpcNode; readonly value: T }

/** How far the asking has come. */
type Standing<T> = {
  readonly answers: readonly Answer<T>[]
  readonly failures: readonly unknown[]
  /** How many nodes can still answer. */
  readonly open: number
}

type Gathering<T, R> = {
  /** In the order in which they are asked. */
  readonly nodes: readonly RpcNode[]
  /** How many are asked at once. One more follows each failure, each disagreement, and each time it takes long. */
  readonly first: number
  /** The node it is given asks nothing more in parts when the result is there. */
  readonly read: (node: RpcNode) => Promise<T>
  /** The result, as soon as there is one; undefined to wait for more answers. Called a last time with `open` 0. */
  readonly judge: (standing: Standing<T>) => R | undefined
  /** How much longer to wait, in milliseconds, for answers that make a sufficient result better. */
  readonly graceMs?: number
}

/** Milliseconds after which a slow node is not waited for alone: most answers take a tenth of that. */
const PATIENCE_MS = 400

/**
 * Asks nodes and answers as soon as the answers suffice. A slow node is not waited for: its answer is still read, so
 * that its health is known, and is dropped. Throws when `judge` has no result in the end.
 */
export function gather<T, R>({ nodes, first, read, judge, graceMs = 0 }: Gathering<T, R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const answers: Answer<T>[] = []
    const failures: unknown[] = []
    let asked = 0
    let done = false
    let timer: NodeJS.Timeout | undefined
    let grace: NodeJS.Timeout | undefined
    const over = new AbortController()

    const finish = (end: () => void): void => {
      done = true
      clearTimeout(timer)
      clearTimeout(grace)
      over.abort()
      end()
    }
    const look = (late = false): void => {
      if (done) return
      try {
        const open = nodes.length - answers.length - failures.length
        const result = judge({ answers, failures, open })
        if (result !== undefined) {
          if (open === 0 || graceMs === 0 || late) return finish(() => resolve(result))
          grace ??= setTimeout(() => look(true), graceMs)
          return
        }
        if (open === 0) return finish(() => reject(failures.at(-1) ?? new Error('no node can be asked')))
      } catch (error) {
        return finish(() => reject(error))
      }
      // What is under way does not suffice: the next one is asked.
      if (asked - answers.length - failures.length === 0) askNext()
    }
    const askNext = (): void => {
      const node = nodes[asked]
      if (node === undefined || done) return
      asked += 1
      clearTimeout(timer)
      timer = setTimeout(askNext, PATIENCE_MS)
      timer.unref()
      read(node.until(over.signal)).then(
        (value) => {
          answers.push({ node, value })
          look()
        },
        (failure: unknown) => {
          failures.push(failure)
          if (!done) askNext()
          look()
        },
      )
    }
    for (let count = 0; count < Math.max(1, first); count++) askNext()
    if (nodes.length === 0) look()
  })
}
