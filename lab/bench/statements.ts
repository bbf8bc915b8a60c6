import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { System } from '../../scripts/system.ts'
import type { Arm } from './arm.ts'
import { type Batch, idlePerSecond, type Meter, runBatch } from './measure.ts'
import { line } from './report.ts'

const IDLE_SECONDS = 10
/** Payments whose statements are counted together. */
const SAMPLE = 48
const ALONE = 5
/** Milliseconds: after a payment the loops of the worker look more often for a moment. */
const QUIET_MS = 5000

/**
 * Measures the statements of a payment without those of the background, and all of them while one payment is made
 * alone.
 */
export async function measureStatements(system: System, arm: Arm, atOnce: number): Promise<string[]> {
  const { meter, close } = await countStatements(system)
  try {
    await system.children.get('worker')?.untilReady()
    // After one batch every connection is open again.
    await runBatch(arm, meter, { payments: SAMPLE, atOnce })
    const idle = await idlePerSecond(meter, IDLE_SECONDS)
    const busy = await runBatch(arm, meter, { payments: SAMPLE, atOnce })
    const each = (name: string): number =>
      ((busy.spent[name] ?? 0) - ((idle[name] ?? 0) * busy.wallMs) / 1000) / busy.payments
    const alone: Batch[] = []
    for (let count = 0; count < ALONE; count++) {
      await delay(QUIET_MS)
      alone.push(await runBatch(arm, meter, { payments: 1, atOnce: 1 }))
    }
    return [
      line('pipeline.sql_statements', [each('calls')], 'statements/payment'),
      line('pipeline.sql_commits', [each('commits')], 'transactions/payment'),
      line('pipeline.wal', [each('walBytes') / 1024], 'KB/payment'),
      line('idle.sql_statements', [idle['calls'] ?? 0], 'statements/s'),
      line(
        'alone.sql_statements',
        alone.map(({ spent }) => spent['trips'] ?? 0),
        'statements',
      ),
      line(
        'alone.took',
        alone.flatMap(({ tookMs }) => tookMs),
        'ms',
      ),
    ]
  } finally {
    await close()
  }
}

/** Turns the counting of statements on, for which Postgres must start again. */
async function countStatements(
  system: System,
): Promise<{ readonly meter: Meter; readonly close: () => Promise<void> }> {
  const url = system.info.database_url
  const admin = await connect(url)
  await admin.query("alter system set shared_preload_libraries = 'pg_stat_statements'")
  await admin.end().catch(() => undefined)
  await system.children.get('postgres')?.restart()
  const client = await connect(url)
  await client.query('create extension if not exists pg_stat_statements')
  return { meter: () => readStatements(client), close: () => client.end() }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The restart ends the connection.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The server's tasks, such as a vacuum, write to the log too. Only what statements write is counted. */
async function readStatements(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query(`select
    (select sum(calls) from pg_stat_statements where not query ~* '^(begin|commit|rollback)')::float8 as calls,
    (select sum(calls) from pg_stat_statements)::float8 as trips,
    (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
    (select sum(wal_bytes) from pg_stat_statements)::float8 as wal`)
  return { trips: rows[0].trips, calls: rows[0].calls, commits: rows[0].commits, walBytes: rows[0].wal }
}
