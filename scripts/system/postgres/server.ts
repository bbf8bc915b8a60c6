import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { run } from '../../setup/run.ts'
import type { ProcessSpec } from '../supervisor.ts'
import { findPostgresBinaries } from './binaries.ts'
import { type Identity, postgresUser } from './identity.ts'

export type PostgresOptions = {
  folder: string
  port: number
  password: string
  logFile: string
  /** For tests: a crash of the machine may lose everything, which makes it several times as fast. */
  forgetful?: boolean
  /** Created if it is not there. */
  database?: string
  /** The superuser; default: `pinrail`. */
  superuser?: string
  /** More settings, as `name=value`. */
  settings?: readonly string[]
}

const USER = 'pinrail'
const DATABASE = 'pinrail'

const DURABLE = ['max_connections=200', 'shared_buffers=128MB']
const FORGETFUL = [
  'max_connections=400',
  'shared_buffers=256MB',
  'fsync=off',
  'full_page_writes=off',
  'max_wal_size=4GB',
  'autovacuum=off',
]

export function postgresUrl(
  { port, password, superuser = USER }: Pick<PostgresOptions, 'port' | 'password' | 'superuser'>,
  database = DATABASE,
): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`
}

/** Describes how to run the embedded Postgres; its data folder is created before the first start. */
export async function postgresSpec(options: PostgresOptions): Promise<ProcessSpec> {
  const user = await postgresUser()
  const binaries = await findPostgresBinaries(user)
  const settings = [
    `port=${options.port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(options.forgetful === true ? FORGETFUL : DURABLE),
    ...(options.settings ?? []),
  ]
  return {
    name: 'postgres',
    command: binaries.postgres,
    args: ['-D', options.folder, ...settings.flatMap((setting) => ['-c', setting])],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    cwd: '/',
    user: user ?? undefined,
    // Fast shutdown: ends the connections and writes a checkpoint.
    stopSignal: 'SIGINT',
    logFile: options.logFile,
    prepare: () => initialize(options, { initdb: binaries.initdb, user }),
    ready: () => hasDatabase(options),
    // Processes of a server that was killed may still be ending.
    notYet: /pre-existing shared memory block/,
  }
}

/** Creates the data folder under another name first, so that a killed initdb leaves nothing that looks whole. */
async function initialize(
  { folder, password, superuser = USER }: PostgresOptions,
  { initdb, user }: { initdb: string; user: Identity | null },
): Promise<void> {
  if (existsSync(join(folder, 'PG_VERSION'))) return
  const draft = `${folder}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(dirname(draft), { recursive: true, mode: 0o755 })
  await mkdir(draft, { mode: 0o700 })
  if (user !== null) await chown(draft, user.uid, user.gid)
  const passwordFile = join(tmpdir(), `pinrail-${randomBytes(12).toString('hex')}`)
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' })
  if (user !== null) await chown(passwordFile, user.uid, user.gid)
  try {
    await run(initdb, initdbArguments({ folder: draft, passwordFile, superuser }), {
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      ...(user === null ? {} : { user }),
    })
    await rename(draft, folder)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** The collation built into Postgres sorts alike on every machine; the system's would not. */
function initdbArguments(of: { folder: string; passwordFile: string; superuser: string }): string[] {
  return [
    `--pgdata=${of.folder}`,
    `--username=${of.superuser}`,
    `--pwfile=${of.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
  ]
}

/** Returns true once it takes connections and the database is there; creates the database the first time. */
async function hasDatabase(options: PostgresOptions): Promise<boolean> {
  const client = new pg.Client({ connectionString: postgresUrl(options, 'postgres'), connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch {
    await client.end().catch(() => undefined)
    return false
  }
  try {
    const name = options.database ?? DATABASE
    const found = await client.query('select 1 from pg_database where datname = $1', [name])
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`)
    return true
  } finally {
    await client.end()
  }
}
