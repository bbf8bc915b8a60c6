import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../run.ts'

const CHILD = fileURLToPath(new URL('./sdk-download-child.ts', import.meta.url))
/** Milliseconds: a network that drops packets would hang for minutes, and there are other sources. */
const TIMEOUT_MS = 60_000

export type Downloadable = 'dev-server' | 'test-server'

/** The names of the SDK's downloads in `bin`. */
const PROGRAMS: Record<Downloadable, string> = { 'dev-server': 'temporal', 'test-server': 'temporal-test-server' }

/** Lets the Temporal SDK download one of its servers into the folder's `bin`. Runs in a process that can be ended. */
export async function downloadBySdk(what: Downloadable, version: string, folder: string): Promise<void> {
  const downloads = join(folder, 'sdk')
  const program = join(folder, 'bin', PROGRAMS[what])
  await Promise.all([mkdir(downloads), mkdir(dirname(program))])
  try {
    await run(process.execPath, ['--import', 'tsx', CHILD, what, `v${version}`, downloads], {
      cwd: dirname(CHILD),
      timeoutMs: TIMEOUT_MS,
    }).catch((error: Error) => {
      throw new Error(reasonIn(error.message), { cause: error })
    })
    const [file] = await readdir(downloads)
    if (file === undefined) throw new Error('the SDK left no file')
    await chmod(join(downloads, file), 0o755)
    await rename(join(downloads, file), program)
  } finally {
    await rm(downloads, { recursive: true, force: true })
  }
}

/** Returns the cause of a failure, without the chain of layers in front that repeats the address. */
function reasonIn(output: string): string {
  const line = output.split('\n').find((text) => /error/i.test(text) && !text.includes(' at ')) ?? output
  return line.split(': ').slice(-2).join(': ').replace(/\]$/, '').slice(0, 160)
}
