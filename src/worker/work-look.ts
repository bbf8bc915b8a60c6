import { type Bell, createBell } from '../bell.ts'
import type { Queryable } from '../db/db.ts'
import { findWork, SWEEPS, type Sweep } from '../db/work.ts'

/** The bells of the sweeps of a process, and of the look that all of them share. The commit that makes work rings. */
export type WorkBells = Readonly<Record<Sweep | 'look', Bell>>

export const createWorkBells = (): WorkBells => ({
  ...(Object.fromEntries(SWEEPS.map((sweep) => [sweep, createBell()])) as Record<Sweep, Bell>),
  look: createBell(),
})

/**
 * Finds the work for which no bell has rung: a process may have ended between a commit and its ring, a notification of
 * Postgres may be lost, and some work only becomes due. `clock`: Unix milliseconds.
 */
export function createWorkLook({ db, bells, clock }: { db: Queryable; bells: WorkBells; clock: () => number }) {
  return async function look(): Promise<number> {
    for (const sweep of await findWork(db, new Date(clock()).toISOString())) bells[sweep].ring()
    return 0
  }
}

/** Rings for the sweeps that a notification of Postgres names; for a look if notifications may have been missed. */
export function ringFor(sweeps: readonly string[] | null, bells: WorkBells): void {
  if (sweeps === null) bells.look.ring()
  else for (const sweep of SWEEPS) if (sweeps.includes(sweep)) bells[sweep].ring()
}
