import { ensureDebianPackages } from '../debian.ts'
import type { Progress } from '../progress.mjs'
import { firstLine, which } from '../run.ts'

/** Programs that run the examples of the documentation. Node is there already. */
const PROGRAMS = {
  curl: 'curl',
  php: 'php-cli',
  python3: 'python3',
  go: 'golang-go',
  javac: 'default-jdk-headless',
}

/** Makes sure of the languages of the examples: those that are there, or Debian's. */
export async function ensureLanguages(progress: Progress): Promise<void> {
  if (Object.keys(PROGRAMS).every((program) => which(program) !== null)) return
  const step = progress.step('Languages of the examples')
  try {
    await ensureDebianPackages(PROGRAMS, step)
    step.done()
  } catch (error) {
    step.fail(firstLine(error))
    throw error
  }
}
