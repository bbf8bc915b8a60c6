import type { Call, Request } from './clients.ts'
import { resultOf, Unanswered } from './failure.ts'

/** Several calls in one HTTP request, as many as the node takes. */

const MOST_TOGETHER = 50

/** After so long (milliseconds) twice as many are tried again: a front door may have refused the calls for another reason. */
const LOOK_AGAIN_MS = 10 * 60_000

type Waiting = {
  readonly call: Call
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** `post`: sends one call, or a list of `count`. */
export function createBatches(post: (body: unknown, count: number) => Promise<unknown>): Request {
  const size = createSize()
  let waiting: Waiting[] = []

  function flush(): void {
    const calls = waiting
    waiting = []
    askInParts(calls, size.now())
  }

  function askInParts(calls: readonly Waiting[], most: number): void {
    for (let at = 0; at < calls.length; at += most) {
      const part = calls.slice(at, at + most)
      ask(part).catch((error: unknown) => part.forEach(({ reject }) => reject(error)))
    }
  }

  /**
   * A list that is refused as a whole is asked in halves, down to single calls, and the size that the node takes is remembered.
   * That needs no words of providers: its first call is asked alone. If that is refused alike, the list is not the reason.
   */
  async function ask(calls: readonly Waiting[]): Promise<void> {
    const [first, ...others] = calls
    if (first === undefined) return
    if (others.length === 0) return end(first, await post(bodyOf(first), 1))
    const { answers, refusal } = await askTogether(calls)
    if (refusal === null) return calls.forEach((each, index) => end(each, answers[index]))
    const answer = await post(bodyOf(first), 1)
    if (isAlike(refusal, answer)) throw refusal
    end(first, answer)
    size.refused(calls.length)
    askInParts(others, size.now())
  }

  type Together = { readonly answers: readonly unknown[]; readonly refusal: Unanswered | null }

  async function askTogether(calls: readonly Waiting[]): Promise<Together> {
    try {
      return { answers: answersOf(await post(calls.map(bodyOf), calls.length), calls.length), refusal: null }
    } catch (thrown) {
      if (!(thrown instanceof Unanswered) || !thrown.isAboutRequest) throw thrown
      return { answers: [], refusal: thrown }
    }
  }

  return (call) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ call, resolve, reject }) === 1) setTimeout(flush, 0)
    })
}

const bodyOf = ({ call }: Waiting, index = 0): object => ({ jsonrpc: '2.0', id: index + 1, ...call })

function end({ resolve, reject }: Waiting, answer: unknown): void {
  try {
    resolve(resultOf(answer))
  } catch (error) {
    reject(error)
  }
}

/** In the order of the calls. Throws Unanswered when one is missing: no call may get the answer of another. */
function answersOf(body: unknown, count: number): unknown[] {
  if (!Array.isArray(body)) {
    resultOf(body)
    throw shapeless(body)
  }
  const byId = new Map(body.map((answer: unknown) => [idOf(answer), answer]))
  const answers = Array.from({ length: count }, (_call, index) => byId.get(index + 1))
  if (answers.includes(undefined)) throw shapeless(body)
  return answers
}

const idOf = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : null

const shapeless = (body: unknown): Unanswered =>
  new Unanswered({ kind: 'refused', answer: `not the answers of all calls: ${JSON.stringify(body)}` }, true)

function isAlike(refusal: Unanswered, answer: unknown): boolean {
  try {
    resultOf(answer)
    return false
  } catch (alone) {
    return alone instanceof Unanswered && refusal.message.includes(alone.message)
  }
}

/** How many calls the node takes in one request. */
function createSize() {
  let most = MOST_TOGETHER
  let changedAt = 0
  return {
    now(): number {
      if (most < MOST_TOGETHER && performance.now() - changedAt > LOOK_AGAIN_MS) {
        most = Math.min(MOST_TOGETHER, most * 2)
        changedAt = performance.now()
      }
      return most
    },
    refused(count: number): void {
      most = Math.min(most, Math.floor(count / 2))
      changedAt = performance.now()
    },
  }
}
