#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm run histories`: plain JavaScript up to here, because on a fresh clone there are no packages yet.
try {
  const progress = createProgress(process.stdout)
  const { main } = await bootstrap('scripts/histories/main.ts', progress)
  await main(process.argv.slice(2), progress)
  process.exit(0)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
