import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { DefaultLogger, Runtime, Worker, type WorkflowBundlePath } from '@temporalio/worker'
import { bundleWorkflows } from '../../src/worker/bundle.ts'

/**
 * Every history that the real server has recorded must replay on the current code: a payment that began yesterday
 * continues with today's workflow. `npm run histories` records missing ones.
 */

type Event = {
  eventType: string
  activityTaskScheduledEventAttributes?: { activityType: { name: string } }
}
type Recorded = { events: Event[] }

const NAMES = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))

const readHistory = (name: string): string => readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8')
const read = (name: string): Recorded => JSON.parse(readHistory(name)) as Recorded
const count = ({ events }: Recorded, type: string): number =>
  events.filter(({ eventType }) => eventType === `EVENT_TYPE_${type}`).length

let bundle: WorkflowBundlePath

beforeAll(async () => {
  // The result of a replay is in its error.
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  bundle = await bundleWorkflows()
}, 120_000)

/** The reason why the history does not replay; null if it does. */
async function refusal(history: Recorded, workflowBundle: WorkflowBundlePath = bundle): Promise<Error | null> {
  try {
    await Worker.runReplayHistory({ workflowBundle }, history)
    return null
  } catch (error) {
    return error as Error
  }
}

describe('Every recorded history replays on the current code', () => {
  const refused = new Map<string, unknown>()
  beforeAll(async () => {
    const histories = NAMES.map((workflowId) => ({ workflowId, history: read(workflowId) }))
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: bundle }, histories))
      refused.set(workflowId, error)
  }, 120_000)

  test.each(NAMES)('a recorded history replays: %s', (name) => {
    // Absent is also wrong: then the history was not replayed.
    expect([refused.has(name), refused.get(name)]).toEqual([true, undefined])
  })

  test('the recorded histories contain each course of a payment and of a delivery', () => {
    expect(NAMES.length).toBeGreaterThanOrEqual(40)
    const types = NAMES.map((name) => /"workflowType":\{"name":"(\w+)"\}/.exec(readHistory(name))?.[1])
    expect(new Set(types)).toEqual(new Set(['payment', 'webhookDelivery']))
  })
})

describe('Code with other steps is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-replay-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** The current bundle with one text in it replaced. */
  function changed(from: string, to: string): WorkflowBundlePath {
    const code = readFileSync(bundle.codePath, 'utf8')
    expect(code).toContain(from)
    const codePath = join(folder, `${to.replaceAll(/\W/g, '')}.js`)
    writeFileSync(codePath, code.replaceAll(from, to))
    return { codePath }
  }

  test('a replay refuses another activity instead of the settlement', async () => {
    const other = changed('settlement.settle(', 'settlement.giveBack(')
    expect((await refusal(read('paid-wallet-app'), other))?.message).toMatch(/Nondeterminism|determinis/i)
  })

  test('a replay refuses code without the settlement', async () => {
    const other = changed("do: 'settle'", "do: 'wait'")
    expect((await refusal(read('paid-wallet-app'), other))?.message).toMatch(/Nondeterminism|determinis/i)
  })

  test('a replay refuses a history with another event', async () => {
    const history = read('paid-wallet-app')
    const scheduled = history.events.find(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType.name === 'settle',
    )
    if (scheduled?.activityTaskScheduledEventAttributes === undefined) throw new Error('there is no settlement')
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'settleTwice'
    expect((await refusal(history))?.message).toMatch(/Nondeterminism|determinis/i)
  })
})

describe('The recorded histories', () => {
  test('a payment that succeeds costs at most 28 history events and 4 workflow tasks, its webhook included', () => {
    for (const name of ['paid-wallet-app', 'paid-card-partner', 'paid-local-partner']) {
      const history = read(name)
      expect(history.events.length).toBeLessThanOrEqual(28)
      expect(count(history, 'WORKFLOW_TASK_COMPLETED')).toBeLessThanOrEqual(4)
    }
  })

  test('no workflow task has failed', () => {
    expect(NAMES.filter((name) => count(read(name), 'WORKFLOW_TASK_FAILED') > 0)).toEqual([])
  })

  test('a recorded history does not contain its host and user', () => {
    const listPayloads = (text: string) =>
      [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) => Buffer.from(data, 'base64').toString())
    const telling = NAMES.filter((name) => {
      const text = readHistory(name)
      return /\d+@|stackTrace/.test(text) || /\/(?:tmp|home|root|Users)\//.test(listPayloads(text).join(' '))
    })
    expect(telling).toEqual([])
  })
})
