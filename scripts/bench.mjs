#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm run bench`: plain JavaScript up to here, because on a fresh clone there are no packages yet.
try {
  const progress = createProgress(process.stderr)
  const { main } = await bootstrap('scripts/bench/main.ts', progress)
  process.exit(await main(process.argv.slice(2), progress))
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
