import { sleep } from '@temporalio/workflow'
import type { Moment } from '../domain/payment/workflow-step.ts'

/** Wakes the workflow. A leftover timer only causes one more check of the payment, so none is canceled. */
export type Alarm = {
  wakeAt(moment: Moment): void
  readonly wakeUps: () => number
}

export function createAlarm(): Alarm {
  const armed = new Set<number>()
  let wakeUps = 0
  return {
    wakeAt({ at, what }) {
      // A workflow that is woken earlier requests this moment again.
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
