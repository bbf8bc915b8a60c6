#!/usr/bin/env node
import { runPinrail } from './command.ts'
import { openStreams } from './streams.ts'

// The command `pinrail` of the image, for operators, with the worker's variables. It works in any folder.
process.exitCode = await runPinrail({ args: process.argv.slice(2) }, openStreams())
