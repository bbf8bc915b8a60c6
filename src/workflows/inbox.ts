import { CancellationScope, condition } from '@temporalio/workflow'

/** A message from outside, which the workflow handles before its next step. */
export type Message =
  /** Another process has changed the row. */
  | { readonly do: 'load' }
  | { readonly do: 'answer'; readonly request: () => Promise<void> }
  /** The order of the attempt must be read from its partner. */
  | { readonly do: 'read_order'; readonly attemptId: string }

export type Inbox = {
  take(): Message | null
  readonly isEmpty: () => boolean
  readonly mustLoad: () => void
  readonly mustRead: (attemptId: string) => void
  /** Resolves with its answer in its turn, or throws its error. */
  ask<Answer>(request: () => Promise<Answer>): Promise<Answer>
}

export function createInbox(): Inbox {
  let mustLoad = false
  const requests: (() => Promise<void>)[] = []
  const orders = new Set<string>()
  return {
    take() {
      if (mustLoad) {
        mustLoad = false
        return { do: 'load' }
      }
      const request = requests.shift()
      if (request !== undefined) return { do: 'answer', request }
      const [attemptId] = orders
      if (attemptId === undefined) return null
      orders.delete(attemptId)
      return { do: 'read_order', attemptId }
    },
    isEmpty: () => !mustLoad && requests.length === 0 && orders.size === 0,
    mustLoad: () => void (mustLoad = true),
    mustRead: (attemptId) => void orders.add(attemptId),
    ask: async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
      let answer: Promise<Answer> | undefined
      let isDone = false
      requests.push(async () => {
        answer = request()
        await answer.catch(() => undefined)
        isDone = true
      })
      // A handler runs outside the scope of the payment: if the run is canceled, it still gets its answer.
      await CancellationScope.nonCancellable(() => condition(() => isDone))
      return answer as Promise<Answer>
    },
  }
}
