import type { Registry } from './registry.ts'

/** Null: the value is not known now, and has no series. */
export type Row = Readonly<Record<string, string | number | null>>
export type Sources<Name extends string> = Readonly<Record<Name, () => Promise<readonly Row[]>>>

/** One number: its source, the column that has it, and its labels. */
export type MetricNumber<Name extends string> = {
  readonly from: Name
  readonly value: string
  readonly help: string
  readonly labels: readonly string[]
  /** The number only grows while the process lives. */
  readonly counts?: true
}

/**
 * Registers numbers that are read on each request for metrics. Without an answer there is no series, because an old
 * number would hide money. Each source is read once for all of its numbers on a page.
 */
export function registerNumbers<Name extends string>(
  registry: Registry,
  sources: Sources<Name>,
  numbers: Readonly<Record<string, MetricNumber<Name>>>,
): void {
  for (const [name, { from, value, help, labels, counts }] of Object.entries(numbers))
    registry.watch({ name, help, labels }, counts === true ? 'counter' : 'gauge', async () => {
      const rows = (await sources[from]()).filter((row) => row[value] !== null)
      return rows.map((row) => ({
        value: Number(row[value]),
        labels: Object.fromEntries(labels.map((label) => [label, String(row[label])])),
      }))
    })
}

/**
 * Milliseconds. Prometheus gives a page 10 s, and then takes nothing of it: not even that the database does not answer.
 */
const ANSWER_WITHIN_MS = 5000

/**
 * Reads each source once for all numbers of a page, which are collected at the same time. A source that does not answer
 * in time counts as one that fails, and is not read again before it has answered.
 */
export function onceEach<Name extends string>(sources: Sources<Name>, withinMs = ANSWER_WITHIN_MS): Sources<Name> {
  const once = (read: () => Promise<readonly Row[]>): (() => Promise<readonly Row[]>) => {
    let asked: Promise<readonly Row[]> | undefined
    return () => {
      asked ??= read().finally(() => {
        asked = undefined
      })
      return inTime(asked, withinMs)
    }
  }
  const entries = Object.entries<() => Promise<readonly Row[]>>(sources)
  return Object.fromEntries(entries.map(([name, read]) => [name, once(read)])) as Sources<Name>
}

async function inTime<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${withinMs} ms`)), withinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
