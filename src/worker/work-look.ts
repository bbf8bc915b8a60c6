import type { Queryable } from '../db/db.ts'
import { findWork, SWEEPS, type Sweep } from '../db/work.ts'
import { createWakeup, type Wakeup } from '../runtime/wakeup.ts'

/** The wakeups of the sweeps of a process, and of the look that all of them share. The commit that makes work wakes it. */
export type WorkWakeups = Readonly<Record<Sweep | 'look', Wakeup>>

export const createWorkWakeups = (): WorkWakeups => ({
  ...(Object.fromEntries(SWEEPS.map((sweep) => [sweep, createWakeup()])) as Record<Sweep, Wakeup>),
  look: createWakeup(),
})

/**
 * Finds the work for which nothing was woken: a process may have ended between a commit and the wakeup, a notification of
 * Postgres may be lost, and some work only becomes due. `clock`: Unix milliseconds.
 */
export function createWorkLook({ db, wakeups, clock }: { db: Queryable; wakeups: WorkWakeups; clock: () => number }) {
  return async function look(): Promise<number> {
    for (const sweep of await findWork(db, new Date(clock()).toISOString())) wakeups[sweep].wake()
    return 0
  }
}

/** Wakes the sweeps that a notification of Postgres names; the look if notifications may have been missed. */
export function wakeSweeps(sweeps: readonly string[] | null, wakeups: WorkWakeups): void {
  if (sweeps === null) wakeups.look.wake()
  else for (const sweep of SWEEPS) if (sweeps.includes(sweep)) wakeups[sweep].wake()
}
