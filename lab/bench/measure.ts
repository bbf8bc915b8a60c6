import type { Client } from '@temporalio/client'
import { cpuMs } from './cpu.ts'
import type { Arm } from './pipeline.ts'

/** Processes by the name that the figures give them. */
export type Processes = Readonly<Record<string, number>>

export type Batch = {
  readonly payments: number
  readonly wallMs: number
  readonly tookMs: readonly number[]
  readonly workflowIds: readonly string[]
  /** CPU that each process has spent (ms). */
  readonly cpuMs: Readonly<Record<string, number>>
}

/** So many payments, never more than `atOnce` at the same time; each begins when one before it has ended. */
export async function runBatch(
  arm: Arm,
  processes: Processes,
  load: { readonly payments: number; readonly atOnce: number },
): Promise<Batch> {
  const before = cpuOf(processes)
  const begun = Date.now()
  const done: Awaited<ReturnType<Arm>>[] = []
  let left = load.payments
  const lane = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1
      done.push(await arm())
    }
  }
  await Promise.all(Array.from({ length: load.atOnce }, lane))
  const after = cpuOf(processes)
  return {
    payments: load.payments,
    wallMs: Date.now() - begun,
    tookMs: done.map(({ tookMs }) => tookMs),
    workflowIds: done.map(({ workflowId }) => workflowId),
    cpuMs: Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)])),
  }
}

/** The CPU time of this process alone. Everything that is measured is one of its children. */
function driverMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export function cpuOf(processes: Processes): Record<string, number> {
  const spent = Object.entries(processes).map(([name, pid]) => [name, cpuMs(pid)] as const)
  return { ...Object.fromEntries(spent), driver: driverMs() }
}

/** History events and workflow tasks of a payment: the average of the workflows. */
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

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
