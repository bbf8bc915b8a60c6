#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm test`: plain JavaScript up to here, because on a fresh clone there are no packages yet.
try {
  const progress = createProgress(process.stdout)
  const { main } = await bootstrap('scripts/test/main.ts', progress)
  process.exitCode = await main(process.argv.slice(2), progress)
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
  process.stdout.write('0 passed, 1 failed\n')
  process.exitCode = 1
}
