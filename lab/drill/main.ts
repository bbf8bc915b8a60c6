import { parseArgs } from 'node:util'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { playDrill } from '../../test/e2e/harness/drill.ts'

/**
 * `npm run drill -- [--payments N]`: plays the losses of docs/backup.md on a separate whole system, with N payments of
 * each kind (default 4). Prints the time of each recovery, and the losses. Returns the exit code.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({ args, options: { payments: { type: 'string', default: '4' } } })
  const say = (line: string): void => progress.line(line)
  const problems = await playDrill({ payments: Number(values.payments), say })
  for (const problem of problems) say(problem)
  say(problems.length === 0 ? 'nothing was paid twice' : `${problems.length} problems`)
  return problems.length === 0 ? 0 : 1
}
