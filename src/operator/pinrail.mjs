#!/usr/bin/env node
import { register } from 'tsx/esm/api'

// The command `pinrail`, for operators, with the worker's variables. It works in any folder: its imports are relative.
register()
const { runPinrail } = await import('./command.ts')
const { openStreams } = await import('./streams.ts')
process.exitCode = await runPinrail({ args: process.argv.slice(2) }, openStreams())
