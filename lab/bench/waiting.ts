import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import pg from 'pg'
import type { System } from '../../scripts/system.ts'
import { PAYMENTS_QUEUE } from '../../src/workflows/queues.ts'
import type { Arm } from './arm.ts'
import { createCpuMeter, idlePerSecond, percentile, runBatch } from './measure.ts'
import { countWorkflows, POSTS_AT_ONCE } from './post/measure.ts'
import { line } from './report.ts'

/** Seconds: every open payment is compared with Temporal's list three times in a minute. */
const IDLE_SECONDS = 60
const CREATED = 100
const RUNNING = `ExecutionStatus = 'Running'`
/** Two cores take some 35 first tasks a second, so 100,000 need 50 minutes. */
const START_PATIENCE_MS = 7_200_000
const LOOK_MS = 10_000
/** temporal.api.enums.v1.TaskQueueType */
const WORKFLOW = 1

type Parts = { readonly system: System; readonly client: Client; readonly api: Arm }

/**
 * Measures the cost of payments that wait for their buyers: each is created by the API and has its row and its
 * workflow.
 */
export async function measureWaiting(parts: Parts, open: number): Promise<string[]> {
  const { system, client, api } = parts
  const meter = createCpuMeter(system, {})
  const db = new pg.Client({ connectionString: system.info.database_url })
  await db.connect()
  const look = async (name: string): Promise<string[]> => {
    const idle = await idlePerSecond(meter, IDLE_SECONDS)
    const { tookMs } = await runBatch(api, meter, { payments: CREATED, atOnce: 1 })
    return [
      line(`${name}.rows`, [await countOpen(db)], 'payments'),
      line(`${name}.workflows`, [await countWorkflows(client, RUNNING)], 'workflows'),
      ...Object.entries(idle).map(([process, value]) => line(`${name}.idle.cpu.${process}`, [value], 'ms/s')),
      line(`${name}.create.p50`, [percentile(tookMs, 0.5)], 'ms'),
      line(`${name}.create.p95`, [percentile(tookMs, 0.95)], 'ms'),
    ]
  }
  try {
    const without = await look('waiting.without')
    const begun = performance.now()
    const { wallMs } = await runBatch(api, meter, { payments: open, atOnce: POSTS_AT_ONCE })
    await untilAllWait(client, db)
    return [
      ...without,
      line('waiting.created_in', [wallMs / 1000], 's'),
      line('waiting.all_wait_after', [(performance.now() - begun) / 1000], 's'),
      ...(await look('waiting.with')),
    ]
  } finally {
    await db.end()
  }
}

/**
 * Waits until every open payment has its workflow, and the worker has taken all of their tasks. A worker without CPU
 * also rests, so what waits in the queue is counted.
 */
async function untilAllWait(client: Client, db: pg.Client): Promise<void> {
  for (const deadline = Date.now() + START_PATIENCE_MS; Date.now() < deadline; await delay(LOOK_MS)) {
    const [running, open] = [await countWorkflows(client, RUNNING), await countOpen(db)]
    if (running >= open && (await countWaitingTasks(client)) === 0) return
  }
  throw new Error(`${await countWorkflows(client, RUNNING)} workflows run for ${await countOpen(db)} open payments`)
}

/** Returns how many workflow tasks wait for a worker, as Temporal estimates it. */
async function countWaitingTasks({ workflowService, options: { namespace } }: Client): Promise<number> {
  const { stats } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: PAYMENTS_QUEUE },
    taskQueueType: WORKFLOW,
    reportStats: true,
  })
  return Number(stats?.approximateBacklogCount ?? 0)
}

async function countOpen(db: pg.Client): Promise<number> {
  const { rows } = await db.query('select count(*)::int as open from payment where closed_at is null')
  return rows[0].open
}
