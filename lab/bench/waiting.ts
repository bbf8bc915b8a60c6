import type { Client } from '@temporalio/client'
import pg from 'pg'
import type { System } from '../../scripts/system.ts'
import type { Arm } from './arm.ts'
import { createCpuMeter, idlePerSecond, percentile, runBatch } from './measure.ts'
import { countWorkflows, POSTS_AT_ONCE } from './post/measure.ts'
import { line } from './report.ts'

/** Seconds: every open payment is compared with Temporal's list three times in a minute. */
const IDLE_SECONDS = 60
const CREATED = 100
const RUNNING = `ExecutionStatus = 'Running'`
/** Two cores start some 100 workflows a second, so 100,000 take over 15 minutes. */
const START_PATIENCE_MS = 3_600_000
const LOOK_SECONDS = 10
/** CPU milliseconds a second of a worker that starts no workflows. */
const RESTING_MS = 150

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
    await untilAllWait(parts, db)
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

/** Waits until every open payment has its workflow, and the worker rests: tasks are not taken in the order of the starts. */
async function untilAllWait({ system, client }: Parts, db: pg.Client): Promise<void> {
  const worker = createCpuMeter(system, {})
  for (const deadline = Date.now() + START_PATIENCE_MS; Date.now() < deadline; ) {
    const { worker: busy = 0 } = await idlePerSecond(worker, LOOK_SECONDS)
    if (busy < RESTING_MS && (await countWorkflows(client, RUNNING)) >= (await countOpen(db))) return
  }
  throw new Error(`${await countWorkflows(client, RUNNING)} workflows run for ${await countOpen(db)} open payments`)
}

async function countOpen(db: pg.Client): Promise<number> {
  const { rows } = await db.query('select count(*)::int as open from payment where closed_at is null')
  return rows[0].open
}
