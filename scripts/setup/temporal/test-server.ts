import { existsSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedPath, placeInCache, withCacheLock } from '../cache.ts'
import { ensureDebianPackages } from '../debian.ts'
import type { Progress, Step } from '../progress.mjs'
import { firstLine, isExecutable, run, which } from '../run.ts'
import { downloadBySdk } from './sdk-download.ts'

/** Version of Temporal's Java SDK, of which the time-skipping server is a part; as in tools/test-server/pom.xml. */
const VERSION = '1.38.0'
const NAME = `temporal-test-server-${VERSION}`
const TOOLS = fileURLToPath(new URL('../../../tools/test-server', import.meta.url))
/** Jars that Maven brings; their number makes the percentage. */
const JARS = 40

/** The program that starts the time-skipping server: from the cache, the SDK's download, or Maven. */
export async function ensureTestServer(progress: Progress): Promise<string> {
  const program = join(cachedPath(NAME), 'run')
  if (isUsable(program)) return program
  const step = progress.step('Time-skipping server')
  try {
    return await withCacheLock(NAME, step, async () => {
      if (!isUsable(program)) step.done(await make(progress, step))
      return program
    })
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

/** The Maven form needs a Java at every run, not only to be made. */
function isUsable(program: string): boolean {
  return isExecutable(program) && (which('java') !== null || !existsSync(join(program, '../lib')))
}

async function make(progress: Progress, step: Step): Promise<string> {
  step.update('download by the SDK')
  try {
    await placeInCache(NAME, async (draft) => {
      await mkdir(draft)
      await downloadBySdk('test-server', `v${VERSION}`, join(draft, 'run'))
    })
    return 'downloaded by the SDK'
  } catch (error) {
    progress.line(`Time-skipping server: not downloaded by the SDK: ${firstLine(error)}`)
  }
  await ensureDebianPackages({ java: 'default-jre-headless', mvn: 'maven' }, step)
  await placeInCache(NAME, async (draft) => {
    await mkdir(draft)
    await copyFile(join(TOOLS, 'run'), join(draft, 'run'))
    await copyJars(join(draft, 'lib'), step)
  })
  return 'made by Maven from tools/test-server'
}

async function copyJars(folder: string, step: Step): Promise<void> {
  let jars = 0
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`]
  await run('mvn', ['--batch-mode', '-f', join(TOOLS, 'pom.xml'), ...goal], {
    onLine: (line) => {
      if (!line.includes('Copying ')) return step.update('Maven fetches it')
      jars += 1
      step.update('Maven copies it', jars / JARS)
    },
  })
}
