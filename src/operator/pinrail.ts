import { runCommand } from './command.ts'

/** The command `pinrail`, for operators: `node --import tsx src/operator/pinrail.ts <command>`, with the worker's variables. */
const say = (line: string): void => void process.stdout.write(`${line}\n`)
try {
  process.exitCode = await runCommand({ args: process.argv.slice(2), say })
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
