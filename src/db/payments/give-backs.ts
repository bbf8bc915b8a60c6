import { z } from 'zod'
import type { Attempt } from '../../domain/payment/payment-object.ts'
import { many, type Queryable, sql } from '../db.ts'

const givenBackRow = z.object({ attempt_id: z.string(), held: z.string().transform(BigInt) })

/** By attempt: the minor units of each refunded order before its refund. */
export async function readGivenBack(db: Queryable, attempts: readonly Attempt[]): Promise<ReadonlyMap<string, bigint>> {
  const ids = attempts.filter(({ status }) => status === 'refunded').map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const rows = await many(
    db,
    givenBackRow,
    sql`select distinct on (attempt_id) attempt_id, held::text from reading
        where attempt_id = any(${ids}) and held > 0 order by attempt_id, revision desc`,
  )
  return new Map(rows.map(({ attempt_id, held }) => [attempt_id, held]))
}
