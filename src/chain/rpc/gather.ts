import { isMalformed } from './failure.ts'
import type { RpcNode } from './node.ts'
import { pause } from './pause.ts'

/** Which nodes to ask now. */
export type Asked = {
  /** Those worth asking, the soundest first; the others too when these are fewer than a quorum. */
  readonly nodes: readonly RpcNode[]
  /** The others, which are left alone for a while: asked when that is over and there is no result yet. */
  readonly resting: readonly RpcNode[]
}

/** The nodes of a deployment, as the parts of this folder share them. */
export type Nodes = {
  readonly quorum: number
  asked(): Asked
  /** As Rpc has it. */
  agreed<T>(read: (node: RpcNode) => Promise<T>): Promise<{ value: T } | null>
}

export type Answer<T> = { readonly node: RpcNode; readonly value: T }

/** How far the asking has come. */
export type Standing<T> = {
  readonly answers: readonly Answer<T>[]
  /** The last one of each node that has not answered. */
  readonly failures: readonly unknown[]
  /** How many nodes have not said yet whether they answer. */
  readonly open: number
}

type Gathering<T, R> = {
  /** In the order in which they are asked. */
  readonly nodes: readonly RpcNode[]
  readonly resting?: readonly RpcNode[]
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
 * Milliseconds without a result, after which nodes that rest are asked all the same, as where the others are fewer than a
 * quorum: most calls may take as long, so one of the others does not count now. A rest may be half a minute.
 */
const LATE_MS = 4000

/**
 * Asks nodes and answers as soon as the answers suffice. A slow node is not waited for: its answer is still read, so
 * that its health is known, and is dropped. Throws when `judge` has no result in the end.
 *
 * A node may keep us waiting for minutes: with answers that come late, behind each other. While it does, those that have
 * failed are asked again, so that one bad node and one lost answer of another stop nothing for longer than the loss lasts.
 * That makes no wait longer: it ends when each node has answered or failed once.
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
      // What is under way does not suffice: the next one is asked.
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

/** Asks single nodes, until `signal` is aborted, and keeps what they answer. */
function createAsking<T>(read: (node: RpcNode) => Promise<T>, signal: AbortSignal) {
  const startedAt = performance.now()
  const answers: Answer<T>[] = []
  const failures = new Map<RpcNode, unknown>()

  /** Answers whether the node has failed, and may say something else when it is asked again. */
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

  /** After pauses that grow: a node has few calls more, and is waited for at most twice as long as it was away. */
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
