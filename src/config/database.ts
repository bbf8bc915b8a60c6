import { z } from 'zod'

const url = z.url()

export const databaseShape = {
  DATABASE_URL: url,
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /**
   * `transaction`: DATABASE_URL is that of a pooler, such as PgBouncer, that shares connections between transactions.
   */
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  /** Bypasses the pooler, to receive notifications, which a pooler does not pass on. */
  DATABASE_DIRECT_URL: url.optional(),
  /** A replica from which the api reads lists; without it they are read from DATABASE_URL. */
  DATABASE_READ_URL: url.optional(),
}

/** `pinrail migrate` reads only these: the schema's owner may be another database user than that of api and worker. */
export const migrationShape = {
  /** The schema's owner, without the pooler: a migration holds a lock of its session. */
  MIGRATION_DATABASE_URL: url.optional(),
}
