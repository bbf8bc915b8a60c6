import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countResults, type JestResult, NONE, type Tally } from './tally.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Jest runs ES modules only with this switch. Node's warning about it is suppressed. */
const VM_MODULES = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']

export type JestOptions = {
  readonly env?: NodeJS.ProcessEnv
  /** False for the pure tests, which run as CommonJS. */
  readonly vmModules: boolean
}

export async function runJest(args: readonly string[], { env = {}, vmModules }: JestOptions): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-jest-'))
  const outputFile = join(folder, 'result.json')
  const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js')
  const switches = vmModules ? VM_MODULES : []
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(
        process.execPath,
        [...switches, jest, '--json', `--outputFile=${outputFile}`, ...args],
        // Jest also prints the JSON to standard output, although it is in the file.
        { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] },
      )
      child.on('error', reject)
      child.on('close', resolve)
    })
    if (!existsSync(outputFile)) return { ...NONE, failed: 1 }
    const result = JSON.parse(readFileSync(outputFile, 'utf8')) as JestResult
    return countResults({ ...result, success: result.success && code === 0 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
