import { readResult, Unanswered } from './failure.ts'
import type { Call, Request } from './http.ts'

/** Several calls in one HTTP request, as many as the node takes. */

const MAX_TOGETHER = 50

/** Milliseconds after which twice as many are tried again: a gateway may have refused the calls for another reason. */
const GROW_AFTER_MS = 10 * 60_000

type Waiting = {
  readonly call: Call
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** `post`: sends one call, or a list of `count`. */
export function createBatches(post: (body: unknown, count: number) => Promise<unknown>): Request {
  let waiting: Waiting[] = []
  let most = MAX_TOGETHER
  let changedAt = 0

  function flush(): void {
    const calls = waiting
    waiting = []
    if (performance.now() - changedAt > GROW_AFTER_MS) changeSize(most * 2)
    askInParts(calls)
  }

  function changeSize(size: number): void {
    most = Math.min(MAX_TOGETHER, size)
    changedAt = performance.now()
  }

  function askInParts(calls: readonly Waiting[]): void {
    for (let at = 0; at < calls.length; at += most) {
      const part = calls.slice(at, at + most)
      ask(part).catch((error: unknown) => part.forEach(({ reject }) => reject(error)))
    }
  }

  /**
   * Halves a list that is refused as a whole, down to single calls, and remembers the size that the node takes. It
   * needs no error texts of providers: the first call is sent alone. If that is refused alike, the list is not the
   * reason.
   */
  async function ask(calls: readonly Waiting[]): Promise<void> {
    const [first, ...others] = calls
    if (first === undefined) return
    if (others.length === 0) return end(first, await post(createBody(first), 1))
    const refusal = await askTogether(calls)
    if (refusal === null) return
    const answer = await post(createBody(first), 1)
    if (isAlike(refusal, answer)) throw refusal
    end(first, answer)
    changeSize(Math.min(most, Math.floor(calls.length / 2)))
    askInParts(others)
  }

  /** Returns why the list is refused as a whole; null if each call has its answer. */
  async function askTogether(calls: readonly Waiting[]): Promise<Unanswered | null> {
    try {
      const answers = readAnswers(await post(calls.map(createBody), calls.length), calls.length)
      calls.forEach((each, index) => end(each, answers[index]))
      return null
    } catch (thrown) {
      if (thrown instanceof Unanswered && thrown.isAboutRequest) return thrown
      throw thrown
    }
  }

  return (call) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ call, resolve, reject }) === 1) setTimeout(flush, 0)
    })
}

const createBody = ({ call }: Waiting, index = 0): object => ({ jsonrpc: '2.0', id: index + 1, ...call })

function end({ resolve, reject }: Waiting, answer: unknown): void {
  try {
    resolve(readResult(answer))
  } catch (error) {
    reject(error)
  }
}

/**
 * Returns the answers in the order of the calls. Throws Unanswered if one is missing: no call can get the answer of
 * another.
 */
function readAnswers(body: unknown, count: number): unknown[] {
  if (!Array.isArray(body)) readResult(body)
  const byId = new Map([body].flat().map((answer: unknown) => [Object(answer).id, answer]))
  const answers = Array.from({ length: count }, (_call, index) => byId.get(index + 1))
  if (!answers.includes(undefined)) return answers
  throw new Unanswered({ kind: 'refused', answer: `not the answers of all calls: ${JSON.stringify(body)}` }, true)
}

function isAlike(refusal: Unanswered, answer: unknown): boolean {
  try {
    readResult(answer)
    return false
  } catch (alone) {
    return alone instanceof Unanswered && refusal.message.includes(alone.message)
  }
}
