import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { System } from '../../scripts/system.ts'
import type { Arm, Paid } from './arm.ts'
import { cpuMs } from './cpu.ts'

/** Reads counters that only grow. */
export type Meter = () => Promise<Readonly<Record<string, number>>>

export type Batch = {
  readonly payments: number
  readonly wallMs: number
  readonly tookMs: readonly number[]
  readonly workflowIds: readonly string[]
  /** The growth of each counter. */
  readonly spent: Readonly<Record<string, number>>
}

export type Load = { readonly payments: number; readonly atOnce: number }

/** Makes `payments` payments, never more than `atOnce` at the same time. Each begins when one before it has ended. */
export async function runBatch(arm: Arm, meter: Meter, { payments, atOnce }: Load): Promise<Batch> {
  const begun = await look(meter)
  const done: Paid[] = []
  let left = payments
  const hasMore = () => left-- > 0
  await runLanes(atOnce, hasMore, async () => void done.push(await arm.pay()))
  return batchBetween(begun, await look(meter), done)
}

/**
 * Holds `atOnce` payments open, and measures from the end of the first `atOnce` to that of the `payments` after them.
 */
export async function runSaturated(arm: Arm, meter: Meter, { payments, atOnce }: Load): Promise<Batch> {
  const done: Paid[] = []
  const looks: Look[] = []
  const all = atOnce + payments
  await runLanes(
    atOnce,
    () => done.length < all,
    async () => {
      const ended = done.push(await arm.pay())
      if (ended === atOnce || ended === all) looks.push(await look(meter))
    },
  )
  const [begun, ended] = looks as [Look, Look]
  return batchBetween(begun, ended, done.slice(atOnce, all))
}

/**
 * Runs lanes. After a failure no lane begins another payment. It is thrown when all have ended, so that none uses what
 * is closed.
 */
async function runLanes(lanes: number, hasMore: () => boolean, work: () => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  const lane = async (): Promise<void> => {
    while (failures.length === 0 && hasMore()) await work().catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (failures.length > 0) throw failures[0]
}

/** Runs each arm in every round: A B C, then C B A, so that drift with time affects all of them alike. */
export async function runInTurns(
  arms: readonly Arm[],
  rounds: number,
  run: (arm: Arm) => Promise<Batch>,
): Promise<ReadonlyMap<Arm, Batch[]>> {
  const batches = new Map<Arm, Batch[]>(arms.map((arm) => [arm, []]))
  for (let round = 0; round < rounds; round++)
    for (const arm of round % 2 === 0 ? arms : arms.toReversed()) batches.get(arm)?.push(await run(arm))
  return batches
}

/** Returns the growth of each counter in a second without requests. */
export async function idlePerSecond(meter: Meter, seconds: number): Promise<Readonly<Record<string, number>>> {
  const before = await look(meter)
  await delay(seconds * 1000)
  const grown = growth(before, await look(meter))
  return Object.fromEntries(Object.entries(grown).map(([name, value]) => [name, value / seconds]))
}

type Look = { readonly at: number; readonly counters: Readonly<Record<string, number>> }

const look = async (meter: Meter): Promise<Look> => ({ counters: await meter(), at: Date.now() })

function batchBetween(begun: Look, ended: Look, done: readonly Paid[]): Batch {
  return {
    payments: done.length,
    wallMs: ended.at - begun.at,
    tookMs: done.map(({ tookMs }) => tookMs),
    workflowIds: done.map(({ workflowId }) => workflowId),
    spent: growth(begun, ended),
  }
}

function growth({ counters: before }: Look, { counters: after }: Look): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]))
}

/** Reads the CPU time of each process of the system, of the given others, and of this one alone (milliseconds). */
export function createCpuMeter(system: System, others: Readonly<Record<string, number>>): Meter {
  return async () => {
    const children = [...system.children].map(([name, child]) => [name, child.pid() ?? 0] as const)
    const spent = [...children, ...Object.entries(others)].map(([name, pid]) => [name, cpuMs(pid)] as const)
    const { user, system: kernel } = process.cpuUsage()
    return { ...Object.fromEntries(spent), driver: (user + kernel) / 1000 }
  }
}

export async function historyCost(client: Client, workflowIds: readonly string[]) {
  let events = 0
  let tasks = 0
  for (const id of workflowIds) {
    const history = await client.workflow.getHandle(id).fetchHistory()
    const all = history.events ?? []
    events += all.length
    tasks += all.filter((event) => event.workflowTaskCompletedEventAttributes).length
  }
  return { events: events / workflowIds.length, workflowTasks: tasks / workflowIds.length }
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
