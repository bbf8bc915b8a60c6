import { sleep } from '@temporalio/workflow'
import type { Moment } from '../domain/payment/workflow-step.ts'

/** Wakes the workflow. A timer that is left over costs nothing but one more look at the payment, so none is canceled. */
export type Alarm = {
  /** Wakes the workflow at the moment, or before it. */
  wakeAt(moment: Moment): void
  /** The number of times it has woken the workflow. */
  readonly wakeUps: () => number
}

export function createAlarm(): Alarm {
  const armed = new Set<number>()
  let wakeUps = 0
  return {
    wakeAt({ at, what }) {
      // Whoever is woken earlier asks for this moment again.
      if ([...armed].some((earlier) => earlier <= at)) return
      armed.add(at)
      void sleep(Math.max(at - Date.now(), 1), { summary: what }).then(() => {
        armed.delete(at)
        wakeUps += 1
      })
    },
    wakeUps: () => wakeUps,
  }
}
