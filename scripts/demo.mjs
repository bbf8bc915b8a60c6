#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm run demo`: plain JavaScript up to here, because on a fresh clone there are no packages yet.
try {
  const progress = createProgress(process.stdout)
  const { main } = await bootstrap('scripts/demo/main.ts', progress, 'system')
  process.exit(await main(progress))
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
