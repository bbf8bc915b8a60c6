import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { which } from '../../setup/run.ts'
import type { ProcessSpec } from '../supervisor.ts'
import { postgresUser } from './identity.ts'

/** One name under which clients reach a database of the server behind. */
export type Pooled = {
  readonly name: string
  readonly database: string
  /** `transaction`: a connection is shared between transactions. `session`: a client keeps its own. */
  readonly mode: 'transaction' | 'session'
  readonly size: number
}

export type PoolerOptions = {
  readonly folder: string
  readonly port: number
  readonly target: { readonly port: number; readonly user: string; readonly password: string }
  readonly databases: readonly Pooled[]
  readonly logFile: string
}

const INSTALL = 'Install it, on Debian: sudo apt-get update && sudo apt-get install -y pgbouncer'

/** Describes how to run PgBouncer, from its Debian package. It reads the files that `writePoolerFiles` wrote last. */
export async function poolerSpec(options: PoolerOptions): Promise<ProcessSpec> {
  const program = which('pgbouncer')
  if (program === null) throw new Error(`pgbouncer is missing. ${INSTALL}`)
  const user = await postgresUser()
  await writePoolerFiles(options)
  return {
    name: 'pgbouncer',
    command: program,
    args: ['-q', join(options.folder, 'pgbouncer.ini')],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    cwd: '/',
    user: user ?? undefined,
    stopSignal: 'SIGTERM',
    logFile: options.logFile,
    ready: () => answers(options),
  }
}

/** To move every client to another target, write it into the files and send SIGHUP. */
export async function writePoolerFiles({ folder, port, target, databases }: PoolerOptions): Promise<void> {
  const user = await postgresUser()
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const list = databases.map(
    ({ name, database, mode, size }) =>
      `${name} = host=127.0.0.1 port=${target.port} dbname=${database} pool_mode=${mode} pool_size=${size}`,
  )
  const settings = [
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users.txt')}`,
    `admin_users = ${target.user}`,
    'max_client_conn = 500',
    // Go's driver, which Temporal has, always sends it.
    'ignore_startup_parameters = extra_float_digits',
    // With PgBouncer's default of 15 s, clients would wait that long for a database that was away for a moment.
    'server_login_retry = 1',
    // PgBouncer's default of 120 s is longer than any caller waits.
    'query_wait_timeout = 10',
  ]
  const files = {
    'pgbouncer.ini': ['[databases]', ...list, '[pgbouncer]', ...settings, ''].join('\n'),
    'users.txt': `"${target.user}" "${target.password}"\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    await writeFile(path, text, { mode: 0o600 })
    if (user !== null) await chown(path, user.uid, user.gid)
  }
}

/** PgBouncer's console answers without a server behind it. */
async function answers({ port, target }: PoolerOptions): Promise<boolean> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: target.user,
    password: target.password,
    database: 'pgbouncer',
    connectionTimeoutMillis: 2000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
