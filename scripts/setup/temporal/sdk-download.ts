import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../run.ts'

const CHILD = fileURLToPath(new URL('./sdk-download-child.ts', import.meta.url))
/** A network that drops packets would hang for minutes; the next rung is certain, so this one gets a minute. */
const TIMEOUT_MS = 60_000

export type Downloadable = 'dev-server' | 'test-server'

/** Has the Temporal SDK download one of its servers, and moves it to `draft`. Runs in a process that can be ended. */
export async function downloadBySdk(what: Downloadable, version: string, draft: string): Promise<void> {
  const folder = await mkdtemp(join(dirname(draft), 'sdk-'))
  try {
    await run(process.execPath, ['--import', 'tsx', CHILD, what, version, folder], {
      cwd: dirname(CHILD),
      timeoutMs: TIMEOUT_MS,
    }).catch((error: Error) => {
      throw new Error(reasonIn(error.message), { cause: error })
    })
    const [file] = await readdir(folder)
    if (file === undefined) throw new Error('the SDK left no file')
    await chmod(join(folder, file), 0o755)
    await rename(join(folder, file), draft)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What went wrong, without the chain of layers in front that repeats the address. */
function reasonIn(output: string): string {
  const line = output.split('\n').find((text) => /error/i.test(text) && !text.includes(' at ')) ?? output
  return line.split(': ').slice(-2).join(': ').replace(/\]$/, '').slice(0, 160)
}
