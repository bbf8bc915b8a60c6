import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import pg from 'pg'
import type { System } from '../../scripts/system.ts'
import { until } from '../../scripts/test/until.ts'
import type { Arm } from './arm.ts'
import { createCpuMeter, idlePerSecond, percentile, runBatch } from './measure.ts'
import { countWorkflows, PATIENCE_MS, POSTS_AT_ONCE } from './post/measure.ts'
import { line } from './report.ts'

/** Seconds: every open payment is compared with Temporal's list three times in a minute. */
const IDLE_SECONDS = 60
const CREATED = 100
/** Milliseconds in which Temporal and the worker finish what the creation has left to them. */
const QUIET_MS = 30_000
/** Events of a workflow whose first task is not done. */
const STARTED_EVENTS = 3

type Parts = { readonly system: System; readonly client: Client; readonly api: Arm }

/**
 * Measures the cost of payments that wait for their buyers: each is created by the API and has its row and its
 * workflow.
 */
export async function measureWaiting({ system, client, api }: Parts, open: number): Promise<string[]> {
  const meter = createCpuMeter(system, {})
  const db = new pg.Client({ connectionString: system.info.database_url })
  await db.connect()
  const look = async (name: string): Promise<string[]> => {
    const idle = await idlePerSecond(meter, IDLE_SECONDS)
    const { tookMs } = await runBatch(api, meter, { payments: CREATED, atOnce: 1 })
    const { rows } = await db.query('select count(*)::int as open from payment where closed_at is null')
    return [
      line(`${name}.rows`, [rows[0].open], 'payments'),
      line(`${name}.workflows`, [await countWorkflows(client, `ExecutionStatus = 'Running'`)], 'workflows'),
      ...Object.entries(idle).map(([process, value]) => line(`${name}.idle.cpu.${process}`, [value], 'ms/s')),
      line(`${name}.create.p50`, [percentile(tookMs, 0.5)], 'ms'),
      line(`${name}.create.p95`, [percentile(tookMs, 0.95)], 'ms'),
    ]
  }
  try {
    const without = await look('waiting.without')
    const { wallMs, workflowIds } = await runBatch(api, meter, { payments: open, atOnce: POSTS_AT_ONCE })
    await untilFirstTask(client, workflowIds.at(-1) ?? '')
    await delay(QUIET_MS)
    return [...without, line('waiting.created_in', [wallMs / 1000], 's'), ...(await look('waiting.with'))]
  } finally {
    await db.end()
  }
}

/** Tasks are taken in the order of the starts, so the tasks of the payments before it are done too. */
function untilFirstTask(client: Client, workflowId: string): Promise<number> {
  const countEvents = () =>
    client.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        ({ historyLength }) => historyLength,
        () => 0,
      )
  return until(countEvents, (events) => events > STARTED_EVENTS, PATIENCE_MS)
}
