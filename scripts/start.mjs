#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm start`: plain JavaScript up to here, because on a fresh clone there are no packages yet.
// With --json, standard output is kept for the one line of JSON.
const progress = createProgress(process.argv.includes('--json') ? process.stderr : process.stdout)
try {
  const { main } = await bootstrap('scripts/start/main.ts', progress, 'system')
  await main(process.argv.slice(2), progress)
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
  // After a failed start, open handles must not keep the process alive.
  process.exit(1)
}
