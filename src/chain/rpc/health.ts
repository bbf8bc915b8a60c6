import { lacksMethod, type NodeFailure } from './failure.ts'

export type NodeHealth = {
  readonly name: string
  /**
   * `resting`: it gave no usable answer, and is asked little until it does. `left_out`: it must not be asked at all.
   */
  readonly state: 'good' | 'doubtful' | 'resting' | 'left_out'
  readonly why: string | null
  readonly calls: Readonly<Record<string, number>>
  readonly failures: number
  /** Answers against which a quorum of other nodes voted, and answers of a wrong shape. */
  readonly wrong: number
  /** Smoothed, in milliseconds; null before the first answer. */
  readonly latencyMs: number | null
  readonly head: number | null
  readonly lacks: readonly string[]
}

export type Health = {
  view(): NodeHealth
  usable(): boolean
  /** Returns true if the node must not be asked even if too few others are left. */
  leftOut(): boolean
  /** Lower is better: nodes that were wrong recently are last, then those that are behind, then slow ones. */
  rank(newest: number): number
  answered(method: string, ms: number): void
  /** `ms`: milliseconds until it failed. */
  failed(method: string, lost: { failure: NodeFailure; ms: number }): void
  outvoted(): void
  sawHead(number: number): void
  /** Leaves the node out for a while, because of what it is: for example a node of another chain. Null lets it in. */
  leaveOut(why: string | null): void
}

export type HealthOptions = {
  readonly name: string
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  readonly warn: (about: object, message: string) => void
}

/** Five in a row: if a third of all answers are lost, that happens once in 250. */
const FAILURES_UNTIL_REST = 5
/**
 * Milliseconds after which a node that answers everything with an error is of no use: its key may be revoked, its plan
 * used up.
 */
const ERRORS_MS = 10_000
/** Milliseconds between two warnings that a node does not have a method. */
const LACK_MS = 60_000
/** Waiting costs more than an error: two calls that timed out are enough. */
const LONG_MS = 1000
const WEIGHT_OF_LONG = 3
const FIRST_REST_MS = 500
const LONGEST_REST_MS = 30_000
/** Three wrong answers within a minute are no accident of a block that was being replaced. */
const WRONG_UNTIL_DOUBTFUL = 3
const DOUBT_MS = 60_000
/** Milliseconds after which a node that was left out is tried again. */
const LEFT_OUT_MS = 60_000
/** Blocks by which a node may be behind and still be asked first. */
const SMALL_LAG = 3
/** The weight of the newest answer in the smoothed latency. */
const NEWEST = 0.2
const NEVER = Number.NEGATIVE_INFINITY
const OUTVOTED = 'a quorum of other nodes says something else'

/** After its end a node counts as resting until it answers: the next rest takes twice as long. */
type Rest = { readonly ms: number; readonly until: number }
const NO_REST: Rest = { ms: 0, until: NEVER }

function extendRest(rest: Rest, forMs: number, now: number): Rest {
  const ms = Math.min(LONGEST_REST_MS, Math.max(forMs, rest === NO_REST ? FIRST_REST_MS : rest.ms * 2))
  return { ms, until: now + ms }
}

export function createHealth({ name, now, warn }: HealthOptions): Health {
  const calls: Record<string, number> = {}
  const lacks = createLacks({ name, now, warn })
  let [failures, inARow, wrong] = [0, 0, 0]
  let rest: Rest = NO_REST
  let errorsSince: number | null = null
  let [leftOutUntil, failedAt] = [NEVER, NEVER]
  let why: string | null = null
  let wrongAt: number[] = []
  let [latencyMs, head]: [number | null, number | null] = [null, null]

  const count = (method: string): void => void (calls[method] = (calls[method] ?? 0) + 1)
  const leftOut = (): boolean => now() < leftOutUntil
  const resting = (): boolean => now() < rest.until
  const doubtful = (): boolean => wrongAt.filter((at) => at > now() - DOUBT_MS).length >= WRONG_UNTIL_DOUBTFUL

  function beginRest(forMs: number, reason: string): void {
    if (rest === NO_REST) warn({ node: name, why: reason }, 'a node gives no answer that can be used: it is asked less')
    rest = extendRest(rest, forMs, now())
    why = reason
  }

  /** Counts an error as an answer, as long as other calls have results. */
  function refused(method: string, failure: NodeFailure): void {
    errorsSince ??= now()
    if (now() - errorsSince >= ERRORS_MS && !resting()) beginRest(0, failure.message)
    if (lacksMethod(failure)) lacks.add(method, failure)
  }

  function wasWrong(reason: string): void {
    const before = doubtful()
    wrong += 1
    wrongAt = [...wrongAt, now()].slice(-WRONG_UNTIL_DOUBTFUL)
    if (doubtful() && !before) warn({ node: name, wrong, why: reason }, 'a node is wrong again and again: asked last')
  }

  return {
    leftOut,
    usable: () => !leftOut() && !resting(),
    rank: (newest) =>
      (doubtful() ? 1_000_000 : 0) +
      (head !== null && newest - head > SMALL_LAG ? Math.min(newest - head, 100_000) * 5 : 0) +
      Math.min(latencyMs ?? 0, 1000) / 1000,
    view() {
      const state = leftOut() ? 'left_out' : rest !== NO_REST ? 'resting' : doubtful() ? 'doubtful' : 'good'
      return { name, state, why, calls: { ...calls }, failures, wrong, latencyMs, head, lacks: lacks.list() }
    },
    answered(method, ms) {
      count(method)
      latencyMs = latencyMs === null ? ms : latencyMs + NEWEST * (ms - latencyMs)
      lacks.remove(method)
      // Even a node whose key is revoked reports its chain.
      if (method === 'eth_chainId') return
      errorsSince = null
      inARow = 0
      rest = NO_REST
    },
    failed(method, { failure, ms }) {
      count(method)
      if (failure.kind === 'refused') return refused(method, failure)
      failures += 1
      if (failure.kind === 'malformed') wasWrong(failure.message)
      // Calls that were lost together, in one HTTP request or while a node was away, count once.
      if (failure.kind !== 'silent' || now() - ms < failedAt) return
      failedAt = now()
      inARow += ms >= LONG_MS ? WEIGHT_OF_LONG : 1
      if (failure.retryAfterMs > 0 || (inARow >= FAILURES_UNTIL_REST && !resting()))
        beginRest(failure.retryAfterMs, failure.message)
    },
    outvoted: () => wasWrong(OUTVOTED),
    sawHead: (number) => void (head = number),
    leaveOut(reason) {
      leftOutUntil = reason === null ? NEVER : now() + LEFT_OUT_MS
      if (reason !== null && reason !== why) warn({ node: name, why: reason }, 'a node is left out')
      why = reason
    },
  }
}

/** Methods that the node reports as missing, until it answers one of them. */
function createLacks({ name, now, warn }: HealthOptions) {
  const warnedAt = new Map<string, number>()
  return {
    list: () => [...warnedAt.keys()],
    remove: (method: string) => warnedAt.delete(method),
    add(method: string, failure: NodeFailure): void {
      if (now() - (warnedAt.get(method) ?? NEVER) < LACK_MS) return
      warnedAt.set(method, now())
      warn({ node: name, method, why: failure.message }, 'a node does not have a method')
    },
  }
}
