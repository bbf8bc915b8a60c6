#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `npm run pinrail -- <command>`: the operator's command on the system that `npm start` runs, or that the variables
// name.
try {
  const { main } = await bootstrap('scripts/start/operator.ts', createProgress(process.stderr), 'system')
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
