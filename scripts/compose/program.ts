import { ensureGoProgram } from '../setup/programs/go-program.ts'
import type { Progress } from '../setup/progress.mjs'
import { run } from '../setup/run.ts'
import { ensureEngine } from './engine.ts'

/** The version that tools/compose/go.mod names. */
const BUILT_VERSION = '2.40.3'

/** The first version that reads `content` of a config. */
const MINIMUM = [2, 23, 1] as const

/** Returns the command `docker compose`, or the program that is built from tools/compose: about five minutes of CPU. */
export async function ensureCompose(progress: Progress): Promise<readonly string[]> {
  if (isRecent(await run('docker', ['compose', 'version', '--short']).catch(() => ''))) return ['docker', 'compose']
  const source = 'github.com/docker/compose/v2/cmd'
  const ldflags = `-X github.com/docker/compose/v2/internal.Version=v${BUILT_VERSION}`
  return [await ensureGoProgram({ name: `compose-${BUILT_VERSION}`, module: 'compose', source, ldflags }, progress)]
}

/** Makes sure of everything that `npm run compose` needs on this machine. Throws with what is missing. */
export async function ensureContainers(progress: Progress): Promise<void> {
  await ensureEngine(progress)
  await ensureCompose(progress)
}

/** True if the version is at least MINIMUM. */
function isRecent(version: string): boolean {
  const numbers = version.trim().replace(/^v/, '').split('.').map(Number)
  const [at] = MINIMUM.flatMap((wanted, index) => (numbers[index] === wanted ? [] : [index]))
  return at === undefined || (numbers[at] ?? 0) > (MINIMUM[at] ?? 0)
}
