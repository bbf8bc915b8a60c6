import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What of the books is counted: the same numbers from every process, so one of them is enough. */
export type Books = {
  readonly payments: () => Promise<readonly { status: string; method: string; count: number; oldest_seconds: number }[]>
  readonly attention: () => Promise<readonly { kind: string; count: number; oldest_seconds: number }[]>
  readonly backlog: () => Promise<readonly { queue: string; count: number; oldest_seconds: number }[]>
  readonly settled: () => Promise<readonly { count: number; fee_usdc: number }[]>
}

export type PoolUse = { readonly total: number; readonly idle: number; readonly waiting: number }

/** In seconds. Most answers take milliseconds; a checkout that waits for a partner takes seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The registry of a process: the process itself, and its connections to the database. */
export function createRegistry(poolUse: () => PoolUse): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'pinrail_database_connections',
    help: 'Connections of this process by what they do; `waiting` are requests that have none.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(poolUse())) this.set({ state }, count)
    },
  })
  return registry
}

/** How long the answers of the api take, by route. */
export function createDurations(registry: Registry): Histogram<'method' | 'route' | 'status'> {
  return new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer, by route.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })
}

/**
 * Read when it is asked for. Without an answer of the database there is no series, because an old number would hide
 * money; `pinrail_books_readable` says so.
 */
export function watchBooks(registry: Registry, books: Books): void {
  const readable = new Gauge({
    name: 'pinrail_books_readable',
    help: '1 when the database answered the last questions of this page, else 0.',
    registers: [registry],
  })
  const watch = <Row extends Readonly<Record<string, string | number>>>(
    read: () => Promise<readonly Row[]>,
    { name, help, labels }: { name: string; help: string; labels: readonly string[] },
    value: (row: Row) => number,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const rows = await read().catch(() => null)
        this.reset()
        readable.set(rows === null ? 0 : 1)
        for (const row of rows ?? [])
          this.set(Object.fromEntries(labels.map((label) => [label, row[label] ?? ''])), value(row))
      },
    })
  }
  const byState = ['status', 'method'] as const
  watch(
    books.payments,
    { name: 'pinrail_payments', help: 'Payments that are not closed.', labels: byState },
    ({ count }) => count,
  )
  watch(
    books.payments,
    {
      name: 'pinrail_payments_oldest_seconds',
      help: 'Time since the last change of the one that waits longest.',
      labels: byState,
    },
    (row) => row.oldest_seconds,
  )
  watch(
    books.attention,
    { name: 'pinrail_attention', help: 'Money and time that wait for a person, by kind.', labels: ['kind'] },
    ({ count }) => count,
  )
  watch(
    books.attention,
    { name: 'pinrail_attention_oldest_seconds', help: 'Age of what has waited longest, by kind.', labels: ['kind'] },
    (row) => row.oldest_seconds,
  )
  watch(
    books.backlog,
    {
      name: 'pinrail_backlog',
      help: 'What is to be passed on: outbox by kind, news of partners, deliveries.',
      labels: ['queue'],
    },
    ({ count }) => count,
  )
  watch(
    books.backlog,
    {
      name: 'pinrail_backlog_oldest_seconds',
      help: 'Age of what has waited longest in each of them.',
      labels: ['queue'],
    },
    (row) => row.oldest_seconds,
  )
  watch(
    books.settled,
    { name: 'pinrail_settled_payments_day', help: 'Payments that succeeded in the last 24 hours.', labels: [] },
    ({ count }) => count,
  )
  watch(
    books.settled,
    {
      name: 'pinrail_fee_usdc_day',
      help: 'Fees of the payments that succeeded in the last 24 hours, in USDC.',
      labels: [],
    },
    (row) => row.fee_usdc,
  )
}
