import { spawn } from 'node:child_process'
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

export async function runChecks(): Promise<Tally> {
  let tally = NONE
  for (const name of CHECKS) {
    const passed = await succeeds(name)
    process.stdout.write(`${passed ? '✔' : '✖'} npm run ${name}\n`)
    tally = add(tally, { ...NONE, [passed ? 'passed' : 'failed']: 1 })
  }
  return tally
}

function succeeds(script: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const npm = spawn('npm', ['run', '--silent', script], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
    npm.on('error', reject)
    npm.on('close', (code) => resolve(code === 0))
  })
}
