import { ensureDebianPackages } from './debian.ts'
import type { Progress } from './progress.mjs'
import { firstLine, isExecutable, which } from './run.ts'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const APPLICATIONS = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)

/** Makes sure that there is a Chromium: installs Debian's, as root, if there is none. */
export async function ensureChromium(progress: Progress): Promise<void> {
  if (findChromium() !== null) return
  const step = progress.step('Chromium')
  try {
    await ensureDebianPackages({ chromium: 'chromium' }, step)
    step.done()
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}

/**
 * Returns the path of a Chromium or Chrome: the one in CHROMIUM, on PATH, or among macOS' applications. Null if there
 * is none.
 */
export function findChromium(): string | null {
  const given = process.env['CHROMIUM']
  if (given) {
    if (!isExecutable(given)) throw new Error(`CHROMIUM=${given} is not a program`)
    return given
  }
  return PROGRAMS.map(which).find((path) => path !== null) ?? APPLICATIONS.find(isExecutable) ?? null
}
