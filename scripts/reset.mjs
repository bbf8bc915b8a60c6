#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

try {
  const progress = createProgress(process.stdout)
  const { main } = await bootstrap('scripts/start/reset.ts', progress, 'system')
  await main(process.argv.slice(2), progress)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
