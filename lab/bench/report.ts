import { type Batch, percentile, sum } from './measure.ts'

/** Processes of the service itself; the rest stands for partners, merchants and the chain. */
const OURS = ['api', 'worker', 'temporal', 'postgres']
/** What the bare workflow needs; it has no API and no database of its own. */
const BARE = ['temporal', 'bare_worker']

/** What one payment asks of Postgres. */
export type StatementCost = {
  readonly calls: number
  readonly commits: number
  readonly walKb: number
  readonly idleCallsPerSecond: number
}

export type Measured = {
  readonly pipeline: readonly Batch[]
  readonly bare: readonly Batch[]
  /** CPU of each process while nobody pays (ms per second). */
  readonly idle: Readonly<Record<string, number>>
  readonly history: Readonly<Record<'pipeline' | 'bare', { events: number; workflowTasks: number }>>
  readonly statements: StatementCost
}

/** `name value unit`, one figure a line. Where batches differ, the range over them follows. */
export function report({ pipeline, bare, idle, history, statements }: Measured): string[] {
  const cpu = (batch: Batch, names: readonly string[]): number =>
    sum(names.map((name) => batch.cpuMs[name] ?? 0)) / batch.payments
  const armLines = (arm: 'pipeline' | 'bare', batches: readonly Batch[], ours: readonly string[]): string[] => [
    line(`${arm}.rate`, batches.map(rateOf), 'payments/s'),
    ...Object.keys(batches[0]?.cpuMs ?? {}).map((name) =>
      line(
        `${arm}.cpu.${name}`,
        batches.map((batch) => cpu(batch, [name])),
        'ms/payment',
      ),
    ),
    line(
      `${arm}.cpu.all_of_ours`,
      batches.map((batch) => cpu(batch, ours)),
      'ms/payment',
    ),
    line(
      `${arm}.took.p50`,
      batches.map(({ tookMs }) => percentile(tookMs, 0.5)),
      'ms',
    ),
    line(
      `${arm}.took.p95`,
      batches.map(({ tookMs }) => percentile(tookMs, 0.95)),
      'ms',
    ),
    line(`${arm}.history_events`, [history[arm].events], 'events/payment'),
    line(`${arm}.workflow_tasks`, [history[arm].workflowTasks], 'tasks/payment'),
  ]
  const ratio = (of: (batch: Batch, arm: 'pipeline' | 'bare') => number): number[] =>
    pipeline.map((batch, index) => of(batch, 'pipeline') / of(bare[index] ?? batch, 'bare'))
  return [
    ...armLines('pipeline', pipeline, OURS),
    ...armLines('bare', bare, BARE),
    ...Object.entries(idle).map(([name, value]) => line(`idle.cpu.${name}`, [value], 'ms/s')),
    line('pipeline.sql_statements', [statements.calls], 'statements/payment'),
    line('pipeline.sql_commits', [statements.commits], 'transactions/payment'),
    line('pipeline.wal', [statements.walKb], 'KB/payment'),
    line('idle.sql_statements', [statements.idleCallsPerSecond], 'statements/s'),
    line(
      'ratio.cpu.all_of_ours',
      ratio((batch, arm) => cpu(batch, arm === 'bare' ? BARE : OURS)),
      'x',
    ),
    line(
      'ratio.cpu.temporal',
      ratio((batch) => cpu(batch, ['temporal'])),
      'x',
    ),
    line(
      'ratio.cpu.worker',
      ratio((batch, arm) => cpu(batch, [arm === 'bare' ? 'bare_worker' : 'worker'])),
      'x',
    ),
    line('ratio.rate', ratio(rateOf), 'x'),
  ]
}

const rateOf = (batch: Batch): number => batch.payments / (batch.wallMs / 1000)

function line(name: string, values: readonly number[], unit: string): string {
  const median = percentile(values, 0.5)
  const range = values.length > 1 ? `  (${short(Math.min(...values))} to ${short(Math.max(...values))})` : ''
  return `${name} ${short(median)} ${unit}${range}`
}

const short = (value: number): string => (Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(1))
