import { randomBytes } from 'node:crypto'
import { chown, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { run } from '../../../scripts/setup/run.ts'
import { readMemory } from '../../../scripts/system/data-folder.ts'

/** Backups of the drill: an administrator's steps for a Postgres server and a Temporal server, by their own tools. */

type Named = { readonly system: { readonly info: { readonly database_url: string } }; readonly folder: string }

/** Returns the folder of Postgres' data. */
function getDataFolder(folder: string): string {
  const memory = readMemory(folder)
  if (memory === null) throw new Error(`${folder} remembers nothing`)
  return memory.postgresFolder
}

/**
 * Copies the files of the running server, as its manual says (PostgreSQL, 25.3.4, "low level API"): the copy is from
 * the moment at which the backup stopped, and recovers automatically when a server starts on it.
 */
export async function takeBackup({ system, folder }: Named): Promise<string> {
  const data = getDataFolder(folder)
  const copy = `${data}.backup-${randomBytes(4).toString('hex')}`
  const client = new pg.Client({ connectionString: system.info.database_url })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('drill', true)`)
    await run('cp', ['-a', data, copy])
    const { rows } = await client.query(`select labelfile from pg_backup_stop(false)`)
    await Promise.all(['postmaster.pid', 'postmaster.opts'].map((name) => rm(join(copy, name), { force: true })))
    // The log up to the stop belongs to the copy.
    await rm(join(copy, 'pg_wal'), { recursive: true })
    await run('cp', ['-a', join(data, 'pg_wal'), join(copy, 'pg_wal')])
    const label = join(copy, 'backup_label')
    await writeFile(label, String(rows[0].labelfile))
    const { uid, gid } = await stat(data)
    await chown(label, uid, gid)
    return copy
  } finally {
    await client.end()
  }
}

/** Replaces the data by the copy. The server must be down. */
export async function putBack(folder: string, copy: string): Promise<void> {
  const data = getDataFolder(folder)
  await rm(data, { recursive: true, force: true })
  await run('cp', ['-a', copy, data])
}

/** Deletes all stored data of the folder's Temporal server. The server must be down. */
export async function loseTemporal(folder: string): Promise<void> {
  const names = ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}
