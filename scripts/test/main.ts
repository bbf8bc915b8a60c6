import type { Progress } from '../setup/progress.mjs'
import { runChecks } from './checks.ts'
import { runJest } from './jest.ts'
import { prepareFor } from './needs.ts'
import { startServices } from './services/services.ts'
import { add, NONE, type Tally } from './tally.ts'

/** Layers that start whole systems, several at once. They run after all others, not beside them. */
const WHOLE = ['test/scripts', 'test/e2e']

/**
 * `npm test`: brings what the tests need, checks the code, runs Jest layer by layer. Arguments go to Jest, and then
 * only the tests are run: `npm test -- test/domain`. Returns the exit code; the last line counts everything.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const leftOut = await prepareFor(args, progress)
  const services = await startServices()
  const options = { env: { PINRAIL_TEST_SERVICES: services.url } }
  let tally: Tally = NONE
  try {
    if (args.length > 0) tally = await runJest([...args, ...leftOut.jestArgs], options)
    else {
      tally = await runChecks()
      tally = add(
        tally,
        await runJest(
          ['--testPathIgnorePatterns', ...[...WHOLE, 'test/long'].map((path) => `/${path}/`), ...leftOut.jestArgs],
          options,
        ),
      )
      tally = add(tally, await runJest([...WHOLE, '--maxWorkers=1', ...leftOut.jestArgs], options))
    }
  } finally {
    await services.stop()
  }
  for (const reason of leftOut.reasons) progress.line(reason)
  process.stdout.write(`\n${tally.passed} passed, ${tally.failed} failed\n`)
  return tally.failed === 0 ? 0 : 1
}
