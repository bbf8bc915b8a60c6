import { CancellationScope, condition } from '@temporalio/workflow'
import type { PaymentSnapshot } from '../../domain/payment/snapshot.ts'

/** The answer of an activity that may have changed the payment. */
export type PaymentNews = { readonly payment: PaymentSnapshot; readonly events: readonly string[] }

/** Requests from outside, done one at a time between the steps of the story, in the order of their arrival. */
export type Requests = {
  /** Queues the work and waits for its result, or throws what the work throws. */
  ask<T>(work: () => Promise<T>): Promise<T>
  readonly waiting: () => boolean
  doNext(): Promise<void>
}

export function createRequests(): Requests {
  const queue: (() => Promise<void>)[] = []
  return {
    waiting: () => queue.length > 0,
    doNext: async () => queue.shift()?.(),
    ask: async <T>(work: () => Promise<T>): Promise<T> => {
      let result: Promise<T> | undefined
      let done = false
      queue.push(async () => {
        result = work()
        await result.catch(() => undefined)
        done = true
      })
      // A handler runs outside the story's scope: canceling the run must not take its answer away.
      await CancellationScope.nonCancellable(() => condition(() => done))
      return result as Promise<T>
    },
  }
}
