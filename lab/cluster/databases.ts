import { join } from 'node:path'
import pg from 'pg'
import { openFolderFor } from '../../scripts/system/data-folder.ts'
import { freePort } from '../../scripts/system/ports.ts'
import { type PoolerOptions, poolerSpec, writePoolerFiles } from '../../scripts/system/postgres/pooler.ts'
import { type PostgresOptions, postgresUrl } from '../../scripts/system/postgres/server.ts'
import { pairSpecs, promote } from '../../scripts/system/postgres/standby.ts'
import type { Child, ProcessSpec } from '../../scripts/system/supervisor.ts'
import { poll } from '../../scripts/system/waiting.ts'

/** Postgres, its standby, and PgBouncer in front of them: the one address that every process knows. */
export type Databases = {
  /** Through the pooler, in transaction mode. */
  readonly url: string
  /** The main database at the start, without the pooler: for the owner's migrations. */
  readonly ownerUrl: string
  /** Through the pooler, but with a dedicated connection: for notifications and the checker. */
  readonly directUrl: string
  readonly readUrl: string
  readonly mainUrl: () => string
  /** The pooler's port, for Temporal, whose databases keep their connections. */
  readonly port: number
  readonly user: string
  readonly password: string
  /** Makes the standby the main database and moves the pooler to it. The old one must have ended. */
  readonly failOver: () => Promise<void>
}

export type Run = (spec: ProcessSpec) => Promise<Child>

const USER = 'pinrail'
/** Four frontends, histories and so on, each with its own limit, never use this many. */
const TEMPORAL_CONNECTIONS = 60

export async function startDatabases(folder: string, password: string, run: Run): Promise<Databases> {
  const logs = (name: string): string => join(folder, 'logs', `${name}.log`)
  const createOptions = async (name: string): Promise<PostgresOptions> => ({
    folder: await openFolderFor(folder, name),
    port: await freePort(),
    password,
    logFile: logs(name),
  })
  const [main, copy] = [await createOptions('primary'), await createOptions('standby')]
  const specs = await pairSpecs({ primary: main, standby: copy })
  await run(specs.primary)
  await run(specs.standby)
  await prepare(postgresUrl(main))
  const pooler = poolerOptions({ folder: await openFolderFor(folder, 'pgbouncer'), port: await freePort(), password })
  const toPort = (port: number): PoolerOptions => ({
    ...pooler,
    target: { ...pooler.target, port },
    logFile: logs('pgbouncer'),
  })
  const bouncer = await run(await poolerSpec(toPort(main.port)))
  let now = main
  const through = (name: string): string => postgresUrl({ port: pooler.port, password }, name)
  return {
    url: through('pinrail'),
    ownerUrl: postgresUrl(main),
    directUrl: through('pinrail_direct'),
    readUrl: postgresUrl(copy),
    mainUrl: () => postgresUrl(now),
    port: pooler.port,
    user: USER,
    password,
    async failOver() {
      await promote(copy)
      now = copy
      await writePoolerFiles(toPort(copy.port))
      const pid = bouncer.pid()
      if (pid !== null) process.kill(pid, 'SIGHUP')
    },
  }
}

function poolerOptions(of: { folder: string; port: number; password: string }): PoolerOptions {
  const own = (name: string) => ({ name, database: name, mode: 'session' as const, size: TEMPORAL_CONNECTIONS })
  return {
    folder: of.folder,
    port: of.port,
    target: { port: 0, user: USER, password: of.password },
    databases: [
      { name: 'pinrail', database: 'pinrail', mode: 'transaction', size: 20 },
      { name: 'pinrail_direct', database: 'pinrail', mode: 'session', size: 20 },
      own('temporal'),
      own('temporal_visibility'),
    ],
    logFile: '',
  }
}

/**
 * Sets the limit that a user behind a pooler must have. Commits wait for the standby from here on: what was answered is
 * on both, so that a failover loses nothing.
 */
async function prepare(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const streams = "select 1 from pg_stat_replication where state = 'streaming'"
    await poll(async () => ((await client.query(streams)).rowCount ?? 0) > 0, {
      withinMs: 30_000,
      everyMs: 50,
      what: 'the standby',
    })
    await client.query(`alter role ${USER} in database pinrail set statement_timeout = '15s'`)
    await client.query('create database temporal')
    await client.query('create database temporal_visibility')
    await client.query("alter system set synchronous_standby_names = '*'")
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}
