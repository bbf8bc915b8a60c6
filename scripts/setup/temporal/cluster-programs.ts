import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress } from '../progress.mjs'
import { firstLine, isExecutable } from '../run.ts'
import { buildFromModule } from './temporal-build.ts'

/** The server that tools/temporal-cluster/go.mod names. */
const NAME = 'temporal-cluster-1.32.0'
const SOURCES = ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql']

export type ClusterPrograms = {
  readonly server: string
  /** Creates and upgrades the databases of a cluster. */
  readonly schemaTool: string
}

/**
 * Returns Temporal's server as a cluster runs it, with a database server behind it: built once, into the user's cache.
 */
export async function ensureClusterPrograms(progress: Progress): Promise<ClusterPrograms> {
  const folder = cachedPath(NAME)
  const programs = { server: join(folder, 'server'), schemaTool: join(folder, 'sql') }
  const isThere = (): boolean => Object.values(programs).every(isExecutable)
  if (isThere()) return programs
  const step = progress.step('Temporal cluster')
  try {
    await withCacheLock(NAME, step, async () => {
      if (isThere()) return
      await placeInCache(NAME, async (draft) => {
        await mkdir(draft)
        await buildFromModule({ module: 'temporal-cluster', sources: SOURCES, folder: draft }, step)
      })
    })
    step.done(`built from tools/temporal-cluster, in ${folder}`)
    return programs
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}
