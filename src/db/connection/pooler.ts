import { z } from 'zod'
import { one, type Queryable, sql } from '../db.ts'

/** The database user's statements alone would have no limit. Trying again does not help. */
export class UnlimitedUser extends Error {}

/**
 * Asserts that the database user has a limit of its own for statements: through a pooler only transactions set theirs.
 * Throws UnlimitedUser with the statement that gives it one.
 */
export async function assertLimited(db: Queryable): Promise<void> {
  const { limit, name } = await one(
    db,
    z.object({ limit: z.string(), name: z.string() }),
    sql`select current_setting('statement_timeout') as limit, quote_ident(current_user) as name`,
  )
  if (limit !== '0') return
  throw new UnlimitedUser(
    'DATABASE_POOLER is transaction, and the database user has no limit for statements. ' +
      `Give it one: alter role ${name} set statement_timeout = '15s'. Then let the pooler connect again (RECONNECT).`,
  )
}
