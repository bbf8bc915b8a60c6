import type { Arm } from './arm.ts'
import { type Batch, percentile } from './measure.ts'

export type Figure = { readonly name: string; readonly unit: string; readonly of: (batch: Batch, arm: Arm) => number }

export const RATE: Figure = { name: 'rate', unit: 'payments/s', of: (batch) => batch.payments / (batch.wallMs / 1000) }
const WORKER = cpuFigure('worker', ({ worker }) => [worker])
export const TOOK: readonly Figure[] = [
  { name: 'took.p50', unit: 'ms', of: ({ tookMs }) => percentile(tookMs, 0.5) },
  { name: 'took.p95', unit: 'ms', of: ({ tookMs }) => percentile(tookMs, 0.95) },
]
export const ALL_OF_OURS = cpuFigure('all_of_ours', ({ ours }) => ours)

export const RATIOS: readonly Figure[] = [ALL_OF_OURS, cpuFigure('temporal', () => ['temporal']), WORKER, RATE]

function cpuFigure(name: string, processes: (arm: Arm) => readonly string[]): Figure {
  const of = (batch: Batch, arm: Arm): number =>
    processes(arm).reduce((total, process) => total + (batch.spent[process] ?? 0), 0) / batch.payments
  return { name: `cpu.${name}`, unit: 'ms/payment', of }
}

type Measured = ReadonlyMap<Arm, readonly Batch[]>

/**
 * Returns the figures of each arm: `name value unit`, one a line. If there are several batches, their range follows.
 */
export function armLines(prefix: string, measured: Measured): string[] {
  return [...measured].flatMap(([arm, batches]) => {
    const processes = Object.keys(batches[0]?.spent ?? {}).map((name) => cpuFigure(name, () => [name]))
    return [RATE, ...processes, ALL_OF_OURS, ...TOOK].map(({ name, unit, of }) =>
      line(
        `${prefix}${arm.name}.${name}`,
        batches.map((batch) => of(batch, arm)),
        unit,
      ),
    )
  })
}

/** Returns the figures of the arm that is compared, divided by those of each other arm in the same round. */
export function ratioLines(prefix: string, measured: Measured, figures: readonly Figure[]): string[] {
  const [compared, ...others] = measured
  if (compared === undefined) return []
  const [arm, batches] = compared
  return others.flatMap(([other, floor]) =>
    figures.map(({ name, of }) =>
      line(
        `${prefix}${other.ratio}.${name}`,
        batches.map((batch, round) => of(batch, arm) / of(floor[round] as Batch, other)),
        'x',
      ),
    ),
  )
}

export function line(name: string, values: readonly number[], unit: string): string {
  const range = values.length > 1 ? `  (${short(Math.min(...values))} to ${short(Math.max(...values))})` : ''
  return `${name} ${short(median(values))} ${unit}${range}`
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (low + high) / 2
}

const short = (value: number): string => (Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(1))
