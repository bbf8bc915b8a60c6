import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type WorkflowBundlePath } from '@temporalio/worker'

const SOURCE = fileURLToPath(new URL('..', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pinrail', import.meta.url))
/** Refuses messages that the codec could not open. */
const INTERCEPTORS = 'temporal/refuse-plaintext.ts'
/** `npm run build` makes the bundle together with this file, so it is always of the same sources. */
const BUILT = join(import.meta.dirname, 'workflows.js')

/**
 * Bundles the code that runs in the workflow sandbox: src/workflows/index.ts, the interceptor, and what they import.
 * Bundling takes seconds of CPU, so the result is cached under a name derived from the sources and the SDK's version. A
 * build has the bundle already.
 */
export async function bundleWorkflows(): Promise<WorkflowBundlePath> {
  if (existsSync(BUILT)) return { codePath: BUILT }
  const codePath = join(CACHE, `workflows-${await fingerprint()}.js`)
  if (!existsSync(codePath)) await makeBundle(codePath)
  return { codePath }
}

/** Writes under another name and renames, so that a killed process leaves no partial file. */
async function makeBundle(path: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(SOURCE, 'workflows/index.ts'),
    workflowInterceptorModules: [join(SOURCE, INTERCEPTORS)],
    logger: { trace: ignore, debug: ignore, info: ignore, warn: console.warn, error: console.error, log: ignore },
  })
  await mkdir(CACHE, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, code)
  await rename(unfinished, path)
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(sdkVersion())
  const files = await Promise.all(['workflows', 'domain', 'temporal'].map(listFiles))
  for (const file of files.flat()) hash.update(file).update(await readFile(join(SOURCE, file)))
  return hash.digest('hex').slice(0, 16)
}

/** Lists every file under the folder, sorted, so that the hash is equal on every machine. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(join(SOURCE, folder), { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(SOURCE, join(parentPath, name))).sort()
}

/** Returns the SDK's version: a bundle must be run by the version that made it. */
function sdkVersion(): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string }
  return version
}

function ignore(): void {}
