import { isMalformed } from './failure.ts'
import type { RpcNode } from './node.ts'
import { pause } from './pause.ts'

export type Asked = {
  /** Nodes worth asking, the healthiest first; also the others if these are fewer than a quorum. */
  readonly nodes: readonly RpcNode[]
  /** Resting nodes: asked after their rest, if there is no result yet. */
  readonly resting: readonly RpcNode[]
}

/** The nodes of a deployment, which the parts of this folder share. */
export type Nodes = {
  readonly quorum: number
  asked(): Asked
  /** See `Rpc`. */
  agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null>
}

export type Answer<T> = { readonly node: RpcNode; readonly value: T }

export type Standing<T> = {
  readonly answers: readonly Answer<T>[]
  /** The last failure of each node that has not answered. */
  readonly failures: readonly unknown[]
  /** Number of nodes that have neither answered nor failed yet. */
  readonly open: number
}

type Gathering<T, R> = {
  readonly nodes: readonly RpcNode[]
  readonly resting?: readonly RpcNode[]
  /** Number of nodes that are asked at once. One more follows each failure, each disagreement, and each long wait. */
  readonly first: number
  /** The given node stops reading in parts when the result is there. */
  readonly read: (node: RpcNode) => Promise<T>
  /**
   * Returns the result as soon as there is one; undefined to wait for more answers. Called a last time with `open` 0.
   */
  readonly judge: (standing: Standing<T>) => R | undefined
  /** Milliseconds to wait longer, for answers that make a sufficient result better. */
  readonly graceMs?: number
}

/** Milliseconds after which a slow node is not waited for alone: most answers take a tenth of that. */
const PATIENCE_MS = 400

/**
 * Milliseconds without a result after which resting nodes are asked anyway, as if the others were fewer than a quorum:
 * most calls may take this long, so one of the others does not count now. A rest may take half a minute.
 */
const LATE_MS = 4000

/**
 * Asks nodes and returns as soon as the answers suffice. The answer of a slow node is still read, so that its health is
 * known, and then dropped. Throws if `judge` has no result in the end.
 *
 * While a slow node is awaited, the nodes that have failed are asked again: one bad node and one lost answer of another
 * stop nothing for longer than the loss lasts. The wait ends when each node has answered or failed once.
 */
export function gather<T, R>({ nodes, resting = [], first, read, judge, graceMs = 0 }: Gathering<T, R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const over = new AbortController()
    const { answers, failures, ask, askAgain } = createAsking(read, over.signal)
    let asked = 0
    let ended = 0
    let done = false
    let timer: NodeJS.Timeout | undefined
    let grace: NodeJS.Timeout | undefined

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
        const open = nodes.length - ended
        const result = judge({ answers, failures: [...failures.values()], open })
        if (result !== undefined) {
          if (open === 0 || graceMs === 0 || late) return finish(() => resolve(result))
          grace ??= setTimeout(() => look(true), graceMs)
          return
        }
        if (open === 0) return finish(() => reject([...failures.values()].at(-1) ?? new Error('no node can be asked')))
      } catch (error) {
        return finish(() => reject(error))
      }
      // The calls in flight do not suffice: the next node is asked.
      if (asked === ended) askNext()
    }
    const askNext = (): void => {
      const node = nodes[asked]
      if (node === undefined || done) return
      asked += 1
      clearTimeout(timer)
      timer = setTimeout(askNext, PATIENCE_MS)
      timer.unref()
      void ask(node).then((isLost) => {
        ended += 1
        if (isLost) void askAgain(node, look)
        if (failures.has(node)) askNext()
        look()
      })
    }
    for (let count = 0; count < Math.max(1, first); count++) askNext()
    for (const node of resting) void askAgain(node, look)
    if (nodes.length === 0) look()
  })
}

/** Asks single nodes until `signal` is aborted, and collects their answers. */
function createAsking<T>(read: (node: RpcNode) => Promise<T>, signal: AbortSignal) {
  const startedAt = performance.now()
  const answers: Answer<T>[] = []
  const failures = new Map<RpcNode, unknown>()

  /** Returns true if the node has failed, and may answer differently when it is asked again. */
  async function ask(node: RpcNode): Promise<boolean> {
    try {
      const value = await read(node.until(signal))
      failures.delete(node)
      answers.push({ node, value })
      return false
    } catch (failure) {
      failures.delete(node)
      failures.set(node, failure)
      return !isMalformed(failure)
    }
  }

  /** Asks after growing pauses: a node gets few more calls, and is waited for at most twice as long as it was away. */
  async function askAgain(node: RpcNode, look: () => void): Promise<void> {
    let isLost = true
    for (let pauseMs = PATIENCE_MS; isLost && !signal.aborted; pauseMs *= 2) {
      await pause(pauseMs, signal)
      const isLate = performance.now() - startedAt > LATE_MS
      if (signal.aborted || !(isLate || node.health.usable())) continue
      isLost = await ask(node)
      look()
    }
  }

  return { answers, failures, ask, askAgain }
}
