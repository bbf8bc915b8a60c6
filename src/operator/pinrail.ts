import { runPinrail } from './command.ts'

/** The command `pinrail`, for operators: `node --import tsx src/operator/pinrail.ts <command>`, with the worker's variables. */
process.exitCode = await runPinrail(
  { args: process.argv.slice(2) },
  { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) },
)
