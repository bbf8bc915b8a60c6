import pg from 'pg'
import type { System } from '../../scripts/system.ts'

/** What Postgres was asked to do since the last look. */
export type Statements = { readonly calls: number; readonly commits: number; readonly walBytes: number }

/** Turns the counting of statements on, which needs Postgres to be started again. */
export async function countStatements(
  system: System,
): Promise<{ readonly since: () => Promise<Statements>; readonly close: () => Promise<void> }> {
  const url = system.info.database_url
  const admin = await connect(url)
  await admin.query("alter system set shared_preload_libraries = 'pg_stat_statements'")
  await admin.end().catch(() => undefined)
  await system.children.get('postgres')?.restart()
  const client = await connect(url)
  await client.query('create extension if not exists pg_stat_statements')
  let last = await look(client)
  return {
    since: async () => {
      const now = await look(client)
      const passed = {
        calls: now.calls - last.calls,
        commits: now.commits - last.commits,
        walBytes: now.walBytes - last.walBytes,
      }
      last = now
      return passed
    },
    close: () => client.end(),
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The restart ends the connection.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function look(client: pg.Client): Promise<Statements> {
  const { rows } = await client.query(`select
    (select sum(calls) from pg_stat_statements where not query ~* '^(begin|commit|rollback)')::float8 as calls,
    (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
    (pg_current_wal_lsn() - '0/0')::float8 as wal`)
  return { calls: rows[0].calls, commits: rows[0].commits, walBytes: rows[0].wal }
}
