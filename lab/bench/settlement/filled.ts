import { createDb, type Db } from '../../../src/db/db.ts'
import { GROWING } from '../../../test/support/settled.ts'
import type { Setup } from '../../settlement/setup.ts'
import { fill } from './speed.ts'

export type Sizes = {
  readonly emptyMb: number
  readonly filledMb: number
  /** Bytes of each settled payout, with indexes, by table; the largest first. */
  readonly bytesByTable: readonly { readonly table: string; readonly bytes: number }[]
  readonly fillSeconds: number
}

/** Measures the size of settled payouts in a database whose bytes of transactions have been dropped. */
export async function measureSizes(setup: Setup, settled: number): Promise<Sizes> {
  await setup.createDatabase('sizes')
  const db = createDb({ url: setup.databaseUrl('sizes'), livemode: false, statementTimeoutMs: 3_600_000 })
  try {
    const emptyMb = await readSize(db)
    const begun = performance.now()
    await fill(setup, db, settled)
    const fillSeconds = (performance.now() - begun) / 1000
    const { rows } = await db.query(
      `select t as table, pg_total_relation_size(t::regclass)::float8 / $2 as bytes from unnest($1::text[]) t order by 2 desc`,
      [GROWING, settled],
    )
    return { emptyMb, filledMb: await readSize(db), bytesByTable: rows as Sizes['bytesByTable'], fillSeconds }
  } finally {
    await db.close()
    await setup.dropDatabase('sizes')
  }
}

async function readSize(db: Db): Promise<number> {
  const { rows } = await db.query('select pg_database_size(current_database())::float8 / 1000000 as mb')
  return (rows[0] as { mb: number }).mb
}
