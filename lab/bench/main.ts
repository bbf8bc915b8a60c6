import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client, Connection } from '@temporalio/client'
import { createMerchant } from '../../scripts/demo/merchant.ts'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { type System, startSystem } from '../../scripts/system.ts'
import { removeLeftovers } from '../../scripts/test/services/leftovers.ts'
import type { Arm } from './arm.ts'
import { startBareArms } from './bare/arms.ts'
import {
  type Batch,
  createCpuMeter,
  historyCost,
  idlePerSecond,
  type Meter,
  runBatch,
  runInTurns,
  runSaturated,
} from './measure.ts'
import { createPipelineArm } from './pipeline.ts'
import { createApiArm, startExpressArm } from './post/arms.ts'
import { measurePosts } from './post/measure.ts'
import { armLines, line, RATIOS, ratioLines } from './report.ts'
import { measureStatements } from './statements.ts'
import { measureWaiting } from './waiting.ts'

const FOLDER_PREFIX = 'pinrail-bench-'

/** Seconds: long enough for ticks of 10 ms to add up. */
const IDLE_SECONDS = 10
const SAMPLE = 20
/** Times that the open payments of the saturation are replaced while it is measured. */
const SATURATED_ROUNDS = 3

const OPTIONS = {
  pairs: { type: 'string', default: '6' },
  payments: { type: 'string', default: '120' },
  'at-once': { type: 'string', default: '24' },
  'warm-up': { type: 'string', default: '250' },
  saturation: { type: 'string', default: '96' },
  posts: { type: 'string', default: '300' },
  waiting: { type: 'string', default: '0' },
} as const

type Sizes = Readonly<Record<keyof typeof OPTIONS, number>>

/**
 * `npm run bench`: measures the whole pipeline and compares it with bare Temporal workflows on the same server, in
 * turns, so that a noisy machine disturbs all of them. Prints `name value unit`, one figure a line. docs/benchmarks.md
 * explains the options.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS })
  const sizes = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)])) as Sizes
  await removeLeftovers(FOLDER_PREFIX)
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  await chmod(folder, 0o755)
  process.env['LOG_LEVEL'] ??= 'warn'
  process.env['OPEN_PAYMENTS'] ??= '1000000'
  try {
    const system = await startSystem({ dataFolder: folder, ports: 'free', progress })
    try {
      await measure(system, sizes, progress)
    } finally {
      await system.stop()
    }
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(system: System, sizes: Sizes, progress: Progress): Promise<void> {
  const connection = await Connection.connect({ address: system.info.temporal_address })
  try {
    const client = new Client({ connection })
    const pipeline = createPipelineArm({ system, merchant: createMerchant(system.info), client })
    const parts: Parts = { system, client, sizes, progress }
    await compareWithBare(pipeline, parts)
    if (sizes.posts > 0) await comparePosts(parts)
    progress.line('counting statements')
    print(await measureStatements(system, pipeline, sizes['at-once']))
    if (sizes.waiting === 0) return
    progress.line(`opening ${sizes.waiting} payments`)
    print(await measureWaiting({ system, client, api: createApiArm(system.info) }, sizes.waiting))
  } finally {
    await connection.close()
  }
}

type Parts = {
  readonly system: System
  readonly client: Client
  readonly sizes: Sizes
  readonly progress: Progress
}

async function compareWithBare(pipeline: Arm, { system, client, sizes, progress }: Parts): Promise<void> {
  const { bare, lean, pid, stop } = await startBareArms(client, system.info.temporal_address)
  try {
    const meter = createCpuMeter(system, { bare_worker: pid })
    await compare([pipeline, bare, lean], { client, meter, sizes, progress })
  } finally {
    stop()
  }
}

async function comparePosts({ system, client, sizes, progress }: Parts): Promise<void> {
  const { arm, pid, stop } = await startExpressArm(system.info)
  try {
    progress.line(`${sizes.posts} payments created one at a time, and ${sizes.posts} at once`)
    const meter = createCpuMeter(system, { express: pid })
    const arms = [createApiArm(system.info), arm] as const
    print(await measurePosts(arms, { client, meter, posts: sizes.posts, warmUp: sizes['warm-up'] }))
  } finally {
    stop()
  }
}

type Comparison = Pick<Parts, 'client' | 'sizes' | 'progress'> & { readonly meter: Meter }

async function compare(arms: readonly Arm[], { client, meter, sizes, progress }: Comparison): Promise<void> {
  const { pairs, payments, 'at-once': atOnce, 'warm-up': warmUp, saturation } = sizes
  progress.line(`warming up with ${warmUp} payments`)
  for (const arm of arms) await runBatch(arm, meter, { payments: warmUp, atOnce })
  const idle = await idlePerSecond(meter, IDLE_SECONDS)
  print(Object.entries(idle).map(([name, value]) => line(`idle.cpu.${name}`, [value], 'ms/s')))

  progress.line(`${pairs} rounds of ${payments} payments, ${atOnce} at once`)
  const measured = await runInTurns(arms, pairs, (arm) => runBatch(arm, meter, { payments, atOnce }))
  print(armLines('', measured))
  for (const [arm, batches] of measured) print(await historyLines(client, arm, batches))
  print(ratioLines('', measured, RATIOS))
  if (saturation === 0) return

  const load = { payments: saturation * SATURATED_ROUNDS, atOnce: saturation }
  progress.line(`${saturation} payments held open`)
  const saturated = await runInTurns(arms, Math.ceil(pairs / 2), (arm) => runSaturated(arm, meter, load))
  print(armLines('saturation.', saturated))
  print(ratioLines('saturation.', saturated, RATIOS))
}

async function historyLines(client: Client, { name }: Arm, batches: readonly Batch[]): Promise<string[]> {
  const sample = batches.at(-1)?.workflowIds.slice(0, SAMPLE) ?? []
  const { events, workflowTasks } = await historyCost(client, sample)
  return [
    line(`${name}.history_events`, [events], 'events/payment'),
    line(`${name}.workflow_tasks`, [workflowTasks], 'tasks/payment'),
  ]
}

function print(lines: readonly string[]): void {
  for (const each of lines) process.stdout.write(`${each}\n`)
}
