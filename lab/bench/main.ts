import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client, Connection } from '@temporalio/client'
import { createMerchant } from '../../scripts/demo/merchant.ts'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { type System, startSystem } from '../../scripts/system.ts'
import { removeLeftovers } from '../../scripts/test/services/leftovers.ts'
import { startBareArm } from './bare/arm.ts'
import { type Batch, cpuOf, historyCost, type Processes, runBatch } from './measure.ts'
import { pipelineArm } from './pipeline.ts'
import { report, type StatementCost } from './report.ts'
import { countStatements } from './statements.ts'

const FOLDER_PREFIX = 'pinrail-bench-'

/** Long enough for ticks of 10 ms to add up (milliseconds). */
const IDLE_MS = 10_000
/** Payments whose history and SQL statements are counted. */
const SAMPLE = 20

/**
 * `npm run bench`: the whole pipeline beside a bare Temporal workflow of the same shape, on the same server and in
 * turns, so that a noisy machine disturbs both. Prints `name value unit`, one figure a line.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      pairs: { type: 'string', default: '4' },
      payments: { type: 'string', default: '72' },
      'at-once': { type: 'string', default: '24' },
    },
  })
  const load = { payments: Number(values.payments), atOnce: Number(values['at-once']) }
  await removeLeftovers(FOLDER_PREFIX)
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  await chmod(folder, 0o755)
  process.env['LOG_LEVEL'] ??= 'warn'
  try {
    const system = await startSystem({ dataFolder: folder, ports: 'free', progress })
    try {
      await compare(system, { ...load, pairs: Number(values.pairs), progress })
    } finally {
      await system.stop()
    }
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Load = { readonly payments: number; readonly atOnce: number; readonly pairs: number; readonly progress: Progress }

async function compare(system: System, { pairs, progress, ...load }: Load): Promise<void> {
  const address = system.info.temporal_address
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const bare = await startBareArm(client, address)
  try {
    const pipeline = pipelineArm({ system, merchant: createMerchant(system.info), client })
    const processes = processesOf(system)
    const arms = {
      pipeline: () => runBatch(pipeline, processes, load),
      bare: () => runBatch(bare.pay, { ...processes, bare_worker: bare.pid }, load),
    }
    progress.line('warming up')
    await arms.pipeline()
    await arms.bare()
    const idle = await idleCpu(processes)
    const batches: Record<keyof typeof arms, Batch[]> = { pipeline: [], bare: [] }
    for (let pair = 0; pair < pairs; pair++) {
      progress.line(`pair ${pair + 1} of ${pairs}`)
      // A B, then B A, so that drift with time affects both alike.
      const order = pair % 2 === 0 ? (['pipeline', 'bare'] as const) : (['bare', 'pipeline'] as const)
      for (const name of order) batches[name].push(await arms[name]())
    }
    const sampleOf = (name: keyof typeof arms) => batches[name].at(-1)?.workflowIds.slice(0, SAMPLE) ?? []
    const history = {
      pipeline: await historyCost(client, sampleOf('pipeline')),
      bare: await historyCost(client, sampleOf('bare')),
    }
    const statements = await statementsOf(system, () => runBatch(pipeline, processes, { ...load, payments: SAMPLE }))
    for (const line of report({ ...batches, idle, history, statements })) process.stdout.write(`${line}\n`)
  } finally {
    bare.stop()
    await connection.close()
  }
}

function processesOf(system: System): Processes {
  return Object.fromEntries([...system.children].map(([name, child]) => [name, child.pid() ?? 0]))
}

/** CPU of each process while nobody pays (ms per second). */
async function idleCpu(processes: Processes): Promise<Record<string, number>> {
  const before = cpuOf(processes)
  await delay(IDLE_MS)
  const after = cpuOf(processes)
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / (IDLE_MS / 1000)]),
  )
}

/** The statements of one payment, less those of the background in the same time. */
async function statementsOf(system: System, pay: () => Promise<Batch>): Promise<StatementCost> {
  const statements = await countStatements(system)
  try {
    await system.children.get('worker')?.untilReady()
    // After one payment every connection is open again.
    await pay()
    await statements.since()
    await delay(IDLE_MS)
    const idle = await statements.since()
    const batch = await pay()
    const busy = await statements.since()
    const per = (all: number, background: number): number =>
      (all - (background / IDLE_MS) * batch.wallMs) / batch.payments
    return {
      calls: per(busy.calls, idle.calls),
      commits: per(busy.commits, idle.commits),
      walKb: per(busy.walBytes, idle.walBytes) / 1024,
      idleCallsPerSecond: idle.calls / (IDLE_MS / 1000),
    }
  } finally {
    await statements.close()
  }
}
