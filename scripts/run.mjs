#!/usr/bin/env node
import { bootstrap } from './setup/bootstrap.mjs'
import { createProgress } from './setup/progress.mjs'

// `node scripts/run.mjs <script> …`: loads a TypeScript script and runs its `main` with the rest of the arguments.
try {
  const [script, ...args] = process.argv.slice(2)
  if (script === undefined) throw new Error('usage: node scripts/run.mjs <script> [argument …]')
  const progress = createProgress(process.stdout)
  const { main } = await bootstrap(script, progress)
  process.exit(await main(args, progress))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
