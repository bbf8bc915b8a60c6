import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { run } from '../../setup/run.ts'
import type { ProcessSpec } from '../supervisor.ts'
import { type PostgresOptions, postgresSpec, postgresUrl } from './server.ts'

/** A server, and another one that streams from it and answers reads. */
export type Pair = { readonly primary: ProcessSpec; readonly standby: ProcessSpec }

/** With the default of 5 s, commits that wait for the standby would stop that long after each restart. */
const RETRY = 'wal_retrieve_retry_interval=500'

/**
 * Describes how to run the two. The first start of the primary makes the standby's folder, as a copy before it has
 * written anything, so the primary must be started first.
 */
export async function pairSpecs(of: { primary: PostgresOptions; standby: PostgresOptions }): Promise<Pair> {
  const upstream = new URL(postgresUrl(of.primary))
  const conninfo = `host=127.0.0.1 port=${upstream.port} user=${upstream.username} password=${of.primary.password}`
  const [primary, standby] = await Promise.all([
    postgresSpec(of.primary),
    postgresSpec({ ...of.standby, settings: [...(of.standby.settings ?? []), `primary_conninfo=${conninfo}`, RETRY] }),
  ])
  return {
    primary: {
      ...primary,
      name: 'primary',
      prepare: async () => {
        await primary.prepare?.()
        await copyOnce(of.primary.folder, of.standby.folder)
      },
    },
    standby: { ...standby, name: 'standby', prepare: () => Promise.resolve(), ready: () => answers(of.standby) },
  }
}

/** Makes the standby a primary that takes writes. Resolves when it does. */
export async function promote(standby: PostgresOptions): Promise<void> {
  await asking(standby, (client) => client.query('select pg_promote(true, 60)'))
}

async function copyOnce(from: string, to: string): Promise<void> {
  if (existsSync(to)) return
  const draft = `${to}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(dirname(draft), { recursive: true, mode: 0o755 })
  // With its owner: Postgres takes no folder of another user.
  await run('cp', ['-a', from, draft])
  await writeFile(join(draft, 'standby.signal'), '')
  await rename(draft, to)
}

async function answers(options: PostgresOptions): Promise<boolean> {
  try {
    await asking(options, (client) => client.query('select 1'))
    return true
  } catch {
    return false
  }
}

async function asking(options: PostgresOptions, ask: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl(options, 'postgres'), connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await ask(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
