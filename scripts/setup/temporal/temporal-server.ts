import { namesTemporal, readTemporal } from '../../../src/config/temporal.ts'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import type { Progress, Step } from '../progress.mjs'
import { firstLine, isExecutable, run, which } from '../run.ts'
import { downloadBySdk } from './sdk-download.ts'
import { buildTemporal, TEMPORAL_VERSION } from './temporal-build.ts'

/** Where a Temporal server comes from: one that runs already, or a program to start. */
export type TemporalServer = { kind: 'address'; address: string } | { kind: 'program'; path: string; origin: string }

const NAME = `temporal-${TEMPORAL_VERSION}`
/** The first server in which update-with-start and eager workflow start need no switch. */
const MINIMUM_SERVER = [1, 29]

/**
 * Finds the Temporal server, or makes one: an address in the environment, the `temporal` program on PATH, the copy in
 * the user's cache, the SDK's download, a build from the Go module in tools/temporal. Each rung that fails says why in
 * one line. It is always the real server.
 */
export async function ensureTemporalServer(progress: Progress): Promise<TemporalServer> {
  if (namesTemporal(process.env)) {
    const { address } = readTemporal(process.env).connection
    progress.line(`Temporal server: the one at ${address} (TEMPORAL_ADDRESS)`)
    return { kind: 'address', address }
  }
  const onPath = which('temporal')
  if (onPath !== null) {
    const problem = await problemOf(onPath)
    if (problem === null) return { kind: 'program', path: onPath, origin: `${onPath}, found on PATH` }
    progress.line(`Temporal server: ${onPath} is not used: ${problem}`)
  }
  return { kind: 'program', ...(await ensureCached(progress)) }
}

async function ensureCached(progress: Progress): Promise<{ path: string; origin: string }> {
  const path = cachedPath(NAME)
  if (isExecutable(path)) return { path, origin: `the copy in ${path}` }
  const step = progress.step('Temporal server')
  try {
    return await withCacheLock(NAME, step, async () => {
      if (isExecutable(path)) return { path, origin: `the copy in ${path}` }
      const origin = await make(progress, step)
      step.done(origin)
      return { path, origin }
    })
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

async function make(progress: Progress, step: Step): Promise<string> {
  const rungs = [
    {
      origin: 'downloaded by the SDK',
      make: (draft: string) => downloadBySdk('dev-server', `v${TEMPORAL_VERSION}`, draft),
    },
    {
      origin: 'built from tools/temporal',
      make: (draft: string) => buildTemporal(draft, step),
    },
  ]
  let last: unknown
  for (const rung of rungs) {
    step.update(rung.origin.replace('downloaded', 'download').replace('built', 'build'))
    try {
      await placeInCache(NAME, async (draft) => {
        await rung.make(draft)
        const problem = await problemOf(draft)
        if (problem !== null) throw new Error(problem)
      })
      return rung.origin
    } catch (error) {
      last = error
      progress.line(`Temporal server: not ${rung.origin}: ${firstLine(error)}`)
    }
  }
  throw last
}

/** What is wrong with a `temporal` program, or null. Its version line reads `temporal version 1.8.2 (Server 1.31.2, …)`. */
async function problemOf(path: string): Promise<string | null> {
  try {
    const version = await run(path, ['--version'], { timeoutMs: 20_000 })
    const [, major, minor] = /Server (\d+)\.(\d+)/.exec(version) ?? []
    if (major === undefined || minor === undefined) return `it says "${version.slice(0, 80)}"`
    const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_SERVER
    const recent = Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor)
    return recent ? null : `its server ${major}.${minor} is older than ${MINIMUM_SERVER.join('.')}`
  } catch (error) {
    return firstLine(error)
  }
}
