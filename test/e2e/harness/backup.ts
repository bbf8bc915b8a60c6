import { randomBytes } from 'node:crypto'
import { chown, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { run } from '../../../scripts/setup/run.ts'
import { readMemory } from '../../../scripts/system/data-folder.ts'

/** Backups of the drill: what an administrator does with a Postgres server and a Temporal server, by their own means. */

type Named = { readonly system: { readonly info: { readonly database_url: string } }; readonly folder: string }

/** Answers where Postgres keeps its data. */
function dataOf(folder: string): string {
  const memory = readMemory(folder)
  if (memory === null) throw new Error(`${folder} remembers nothing`)
  return memory.postgresFolder
}

/**
 * Copies the files of the running server, as its manual says (PostgreSQL, 25.3.4, "low level API"): the copy is of the
 * moment at which the backup stopped, and recovers by itself when a server starts on it.
 */
export async function takeBackup({ system, folder }: Named): Promise<string> {
  const data = dataOf(folder)
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

/** Puts the copy in the place of the data. The server must be down. */
export async function putBack(folder: string, copy: string): Promise<void> {
  const data = dataOf(folder)
  await rm(data, { recursive: true, force: true })
  await run('cp', ['-a', copy, data])
}

/** Takes away all that the Temporal server of the folder has stored. The server must be down. */
export async function loseTemporal(folder: string): Promise<void> {
  const names = ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}
