import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { add, NONE, type Tally } from './tally.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The parts of `npm run check`, each counted as one. */
const CHECKS = [
  'check:lockfile',
  'check:format',
  'check:imports',
  'check:language',
  'check:lint',
  'check:types',
  'check:unused',
]

/** Runs all checks at once: most of them use one core. Prints each with its output, in their order. */
export async function runChecks(): Promise<Tally> {
  let tally = NONE
  const running = CHECKS.map((name) => ({ name, ended: run(name) }))
  for (const { name, ended } of running) {
    const { passed, output } = await ended
    process.stdout.write(`${output}${passed ? '✔' : '✖'} npm run ${name}\n`)
    tally = add(tally, { ...NONE, [passed ? 'passed' : 'failed']: 1 })
  }
  return tally
}

function run(script: string): Promise<{ passed: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', script], { cwd: ROOT, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: stdout + stderr }),
    )
  })
}
