import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

export type Identity = { uid: number; gid: number }

/**
 * Returns the user that runs Postgres: it refuses to run as root, so there it is the machine's `postgres` user, or
 * `nobody`, which every machine has. Null: the user of this process.
 */
export async function postgresUser(): Promise<Identity | null> {
  if (process.getuid?.() !== 0) return null
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  const [uid, gid] = [Number(user?.[2]), Number(user?.[3])]
  if (!Number.isInteger(uid) || !Number.isInteger(gid))
    throw new Error('Postgres does not run as root, and there is no user `postgres` or `nobody`: useradd postgres')
  return { uid, gid }
}

/** Returns true if the user may pass through the folder and every folder above it. */
export async function isOpenTo(folder: string, user: Identity): Promise<boolean> {
  const path = resolve(folder)
  const { uid, gid, mode } = await stat(path)
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  return dirname(path) === path || isOpenTo(dirname(path), user)
}
