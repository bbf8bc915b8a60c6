import { ensureDebianPackages } from './debian.ts'
import type { Progress } from './progress.mjs'
import { firstLine, isExecutable, which } from './run.ts'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** A Chromium for the browser tests: the one in CHROMIUM, one on PATH, or Debian's. */
export async function ensureChromium(progress: Progress): Promise<string> {
  const given = process.env['CHROMIUM']
  if (given !== undefined && given !== '') {
    if (!isExecutable(given)) throw new Error(`CHROMIUM=${given} is not a program`)
    return given
  }
  const found = find()
  if (found !== null) return found
  const step = progress.step('Chromium')
  try {
    await ensureDebianPackages({ chromium: 'chromium' }, step)
    const installed = find()
    if (installed === null) throw new Error('installed, but not on PATH')
    step.done(installed)
    return installed
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

function find(): string | null {
  for (const program of PROGRAMS) {
    const path = which(program)
    if (path !== null) return path
  }
  return null
}
