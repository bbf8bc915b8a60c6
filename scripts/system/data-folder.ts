import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { tryLock } from '../setup/lock.mjs'
import type { Ports } from './ports.ts'
import { isOpenTo, postgresUser } from './postgres/identity.ts'
import { generateSecrets, type Secrets } from './secrets.ts'

export type Remembered = {
  secrets: Secrets
  ports: Partial<Ports>
  /** Folder of Postgres' data: inside the data folder, unless Postgres' own user cannot reach it. */
  postgresFolder: string
  /** The demo merchant's API key, after it was created. */
  secretKey: string | null
  /** Fingerprint of the migrations that the database has had; null before the first. */
  schema: string | null
}

export type DataFolder = {
  path: string
  remembered: Remembered
  remember(change: Partial<Remembered>): void
  release(): void
}

/** For Postgres' data as root, when the data folder is closed to Postgres' own user (below a mode 0700 folder). */
const OPEN_FOLDER = '/var/lib/pinrail'

/** Locks the folder for this process. Creates it, with new secrets, the first time. */
export async function openDataFolder(path: string): Promise<DataFolder> {
  await mkdir(path, { recursive: true, mode: 0o755 })
  const lock = tryLock(join(path, 'lock'))
  if (!lock.ok)
    throw new Error(
      `${path} is in use by process ${lock.holder.pid}. End it first (kill ${lock.holder.pid}), or use --data`,
    )
  try {
    const file = memoryFile(path)
    let remembered = withAllSecrets(readMemory(path)) ?? (await firstMemory(path))
    const remember = (change: Partial<Remembered>): void => {
      remembered = { ...remembered, ...change }
      // The file contains secrets, so only its owner may read it.
      writeFileSync(`${file}.draft`, `${JSON.stringify(remembered, null, 2)}\n`, { mode: 0o600 })
      renameSync(`${file}.draft`, file)
    }
    remember({})
    return {
      path,
      get remembered() {
        return remembered
      },
      remember,
      release: lock.release,
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

const memoryFile = (path: string): string => join(path, 'dev.json')

/** Returns null for a folder that was never used. */
export function readMemory(path: string): Remembered | null {
  const file = memoryFile(path)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Remembered) : null
}

/** A folder of an earlier version gets the secrets that it lacks. */
const withAllSecrets = (known: Remembered | null): Remembered | null =>
  known && { ...known, secrets: { ...generateSecrets(), ...known.secrets } }

async function firstMemory(path: string): Promise<Remembered> {
  const postgresFolder = await openFolderFor(path, 'pg')
  return { secrets: generateSecrets(), ports: {}, postgresFolder, secretKey: null, schema: null }
}

/** Returns a folder of that name that Postgres' own user can reach: in `parent`, or in one whose parents are open. */
export async function openFolderFor(parent: string, name: string): Promise<string> {
  const user = await postgresUser()
  if (user === null || (await isOpenTo(parent, user))) return join(parent, name)
  return join(OPEN_FOLDER, randomBytes(8).toString('hex'), name)
}

/** Removes a folder of `openFolderFor`, with the one that was created around it. */
export function removeOpenFolder(folder: string): void {
  const around = dirname(folder)
  rmSync(dirname(around) === OPEN_FOLDER ? around : folder, { recursive: true, force: true })
}
