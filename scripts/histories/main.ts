import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import type { Progress } from '../setup/progress.mjs'
import { startServices } from '../test/services/services.ts'
import { HISTORIES, historyFile, historyText } from './file.ts'
import { BUYING } from './scenarios/buying.ts'
import { CLOCKS } from './scenarios/clocks.ts'
import { CLOSING } from './scenarios/closing.ts'
import { CONTINUED } from './scenarios/continued.ts'
import { MONEY } from './scenarios/money.ts'
import { OPERATORS } from './scenarios/operators.ts'
import { POLLS } from './scenarios/polls.ts'
import type { Scenario, WorkflowOf } from './scenarios/scenario.ts'
import { TROUBLE } from './scenarios/trouble.ts'
import { WEBHOOKS } from './scenarios/webhooks.ts'
import { openSetup, type Setup } from './setup.ts'

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...TROUBLE,
  ...POLLS,
  ...BUYING,
  ...CLOSING,
  ...CLOCKS,
  ...OPERATORS,
  ...MONEY,
  ...CONTINUED,
  ...WEBHOOKS,
}

/**
 * `npm run histories`: plays every scenario against the real Temporal server and stores the histories that are not
 * there yet. A scenario is recorded again by its name, and all of them with `--again`, which the rule in
 * CONTRIBUTING.md allows until version 1.0.
 */
export async function main(args: readonly string[], progress: Progress): Promise<void> {
  const again = args.includes('--again')
  const names = args.filter((argument) => !argument.startsWith('--'))
  const unknown = names.filter((name) => !(name in SCENARIOS))
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`)
  const chosen = Object.entries(SCENARIOS).filter(([name]) => names.length === 0 || names.includes(name))
  // Failing activities are part of the scenarios, so the SDK need not log them.
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  const services = await startServices()
  process.env['PINRAIL_TEST_SERVICES'] = services.url
  try {
    const setup = await openSetup()
    try {
      const recorded = await play(chosen, setup, progress)
      await keep(recorded, { setup, progress, again: again || names.length > 0 })
    } finally {
      await setup.close()
    }
  } finally {
    await services.stop()
  }
}

async function play(scenarios: [string, Scenario][], setup: Setup, progress: Progress): Promise<WorkflowOf[]> {
  const recorded: WorkflowOf[] = []
  for (const [name, scenario] of scenarios) {
    progress.line(name)
    const outcome = await scenario(setup)
    recorded.push(...(typeof outcome === 'string' ? [{ name, workflowId: outcome }] : outcome))
  }
  await setup.theRest()
  return recorded
}

async function keep(
  recorded: readonly WorkflowOf[],
  { setup, progress, again }: { setup: Setup; progress: Progress; again: boolean },
): Promise<void> {
  await mkdir(HISTORIES, { recursive: true })
  for (const { name, workflowId, run = 0, history: given } of recorded) {
    if (existsSync(historyFile(name)) && !again) continue
    const history = given ?? (await setup.readHistory(workflowId, run))
    await writeFile(historyFile(name), historyText(history))
    progress.line(`${name}: ${history.events?.length} events`)
  }
}
