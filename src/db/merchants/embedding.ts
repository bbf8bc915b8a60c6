import { z } from 'zod'
import { one, type Queryable, sql } from '../db.ts'

/** Sorted. */
export async function readEmbedding(db: Queryable, merchantId: string): Promise<readonly string[]> {
  return (await one(db, row, sql`select frame_origins from merchant where id = ${merchantId}`)).frame_origins
}

export async function setEmbedding(
  db: Queryable,
  merchantId: string,
  origins: readonly string[],
): Promise<readonly string[]> {
  const stored = await one(
    db,
    row,
    sql`update merchant set frame_origins = ${[...origins]}::text[] where id = ${merchantId} returning frame_origins`,
  )
  return stored.frame_origins
}

const row = z.object({ frame_origins: z.array(z.string()) })
