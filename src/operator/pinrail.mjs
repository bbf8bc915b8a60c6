#!/usr/bin/env node
import { register } from 'tsx/esm/api'

// The command `pinrail`, for operators, with the worker's variables. It works in any folder: all that it names is beside it.
register()
const { runPinrail } = await import('./command.ts')
process.exitCode = await runPinrail(
  { args: process.argv.slice(2) },
  { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) },
)
