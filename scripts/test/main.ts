import type { Progress } from '../setup/progress.mjs'
import { runChecks } from './checks.ts'
import { runJest } from './jest.ts'
import { prepareFor } from './needs.ts'
import { startServices } from './services/services.ts'
import { add, describeTimes, type Tally } from './tally.ts'

/**
 * `npm test` checks the code, and runs the pure tests and those against real parts. `--quick` leaves out the latter.
 * `--long` runs what starts whole systems, or shows something only now and then. All other arguments go to Jest, and
 * then no checks run: `npm test -- test/domain`. Returns the exit code; the last line counts everything.
 */
export async function main(args: readonly string[], progress: Progress): Promise<number> {
  const jestArgs = args.filter((arg) => arg !== '--quick' && arg !== '--long')
  const tally = await runSuite(args, jestArgs, progress)
  process.stdout.write(`\n${describeTimes(tally)}\n${tally.passed} passed, ${tally.failed} failed\n`)
  return tally.failed === 0 ? 0 : 1
}

async function runSuite(args: readonly string[], jestArgs: readonly string[], progress: Progress): Promise<Tally> {
  // One system at a time: each has all the processes of a company.
  if (args.includes('--long'))
    return runWithServices(['--selectProjects', 'long', '--maxWorkers=1', ...jestArgs], progress)
  if (args.includes('--quick')) return runQuick(jestArgs)
  if (jestArgs.length > 0) return runWithServices(jestArgs, progress)
  return add(await runQuick([]), await runWithServices(['--selectProjects', 'system'], progress))
}

async function runQuick(jestArgs: readonly string[]): Promise<Tally> {
  const checks = await runChecks()
  return add(checks, await runJest(['--selectProjects', 'pure', ...jestArgs], { vmModules: false }))
}

/** Installs what the tests need, and starts the services that they share. */
async function runWithServices(jestArgs: readonly string[], progress: Progress): Promise<Tally> {
  const leftOut = await prepareFor(jestArgs, progress)
  const services = await startServices()
  const env = { PINRAIL_TEST_SERVICES: services.url }
  try {
    return await runJest([...jestArgs, ...leftOut.jestArgs], { env, vmModules: true })
  } finally {
    await services.stop()
    for (const reason of leftOut.reasons) progress.line(reason)
  }
}
