import type { Db } from '../../src/db/db.ts'

/** Writes as somebody with the rights of the owner would write by hand: past all triggers. */
export const plant = (db: Db, text: string, values: unknown[]): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(text, values)
  })
