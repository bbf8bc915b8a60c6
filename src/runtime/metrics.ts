import { performance } from 'node:perf_hooks'
import { openRegistry, type Registry, type Timer } from './registry.ts'
import { type MetricNumber, onceEach, registerNumbers } from './sampled-metrics.ts'

/** The numbers of the books. Every process has the same, so one of them is enough. */
export type Books = {
  readonly payments: () => Promise<readonly { status: string; method: string; count: number; oldest_seconds: number }[]>
  readonly attention: () => Promise<readonly { kind: string; count: number; oldest_seconds: number }[]>
  readonly backlog: () => Promise<readonly { queue: string; count: number; oldest_seconds: number }[]>
  readonly settled: () => Promise<readonly { count: number; fee_usdc: number }[]>
  /** Merchants that wait for approval. */
  readonly applicants: () => Promise<readonly { count: number; oldest_seconds: number }[]>
  readonly partners: () => Promise<readonly { partner: string; why: string; seconds: number }[]>
  readonly invariants: () => Promise<readonly { invariant: string; count: number }[]>
  readonly reconciled: () => Promise<readonly { age_seconds: number }[]>
}

export type PoolUse = { readonly total: number; readonly idle: number; readonly waiting: number }

/** In seconds. Most answers take milliseconds; a checkout that waits for a partner takes seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createRegistry(service: string, poolUse: () => PoolUse): Registry {
  const registry = openRegistry(service)
  watchProcess(registry)
  registry.watch(
    {
      name: 'pinrail_database_connections',
      help: 'Connections of this process by what they do; `waiting` are requests that have none.',
      labels: ['state'],
    },
    'gauge',
    () => Object.entries(poolUse()).map(([state, value]) => ({ value, labels: { state } })),
  )
  return registry
}

function watchProcess(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    registry.watch({ name, help, labels: [] }, 'gauge', () => [{ value: read(), labels: {} }])
  const cpu = { name: 'process_cpu_seconds_total', help: 'CPU time of the process.', labels: [] }
  registry.watch(cpu, 'counter', () => {
    const { user, system } = process.cpuUsage()
    return [{ value: (user + system) / 1e6, labels: {} }]
  })
  gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
  gauge('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', () => process.memoryUsage().heapUsed)
  gauge('process_start_time_seconds', 'Unix time of the start.', () => performance.timeOrigin / 1000)
  let before = performance.eventLoopUtilization()
  gauge('nodejs_eventloop_utilization', 'Busy share of the event loop since the last page, 0 to 1.', () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  })
}

export type RequestDurations = Timer<'method' | 'route' | 'status'>

export function createDurations(registry: Registry): RequestDurations {
  return registry.timer(
    {
      name: 'http_request_duration_seconds',
      help: 'Time from the request to the end of its answer, by route.',
      labels: ['method', 'route', 'status'],
    },
    BUCKETS,
  )
}

/** In seconds. A call is given up after eight. */
const CALL_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8]

export type CallDurations = Timer<'partner' | 'call' | 'outcome'>

export function createCallDurations(registry: Registry): CallDurations {
  return registry.timer(
    {
      name: 'pinrail_partner_call_seconds',
      help: 'Time until a partner or the converter had answered. `outcome`: `answered`, or why there is no answer.',
      labels: ['partner', 'call', 'outcome'],
    },
    CALL_BUCKETS,
  )
}

export function watchPages(registry: Registry, count: () => number): void {
  const help = 'Pages of buyers that this process notifies of changes.'
  registry.watch({ name: 'pinrail_open_pages', help, labels: [] }, 'gauge', () => [{ value: count(), labels: {} }])
}

/** Each number of the books: its source, and the column that has it. */
const NUMBERS: Readonly<Record<string, MetricNumber<keyof Books>>> = {
  pinrail_payments: {
    from: 'payments',
    value: 'count',
    help: 'Payments that are not closed.',
    labels: ['status', 'method'],
  },
  pinrail_payments_oldest_seconds: {
    from: 'payments',
    value: 'oldest_seconds',
    help: 'Time since the last change of the one that waits longest.',
    labels: ['status', 'method'],
  },
  pinrail_attention: {
    from: 'attention',
    value: 'count',
    help: 'Money and time that wait for an operator, by kind.',
    labels: ['kind'],
  },
  pinrail_attention_oldest_seconds: {
    from: 'attention',
    value: 'oldest_seconds',
    help: 'Age of what has waited longest, by kind.',
    labels: ['kind'],
  },
  pinrail_applicants: {
    from: 'applicants',
    value: 'count',
    help: 'Merchants that have applied and wait for approval.',
    labels: [],
  },
  pinrail_applicants_oldest_seconds: {
    from: 'applicants',
    value: 'oldest_seconds',
    help: 'Time since the application that waits longest.',
    labels: [],
  },
  pinrail_backlog: {
    from: 'backlog',
    value: 'count',
    help: 'Messages that wait to be sent: outbox rows by kind, partner callbacks, deliveries, mails.',
    labels: ['queue'],
  },
  pinrail_backlog_oldest_seconds: {
    from: 'backlog',
    value: 'oldest_seconds',
    help: 'Age of what has waited longest in each of them.',
    labels: ['queue'],
  },
  pinrail_partner_down_seconds: {
    from: 'partners',
    value: 'seconds',
    help: 'For how long a partner is down and not offered, and why. One that works has no series.',
    labels: ['partner', 'why'],
  },
  pinrail_invariant_violations: {
    from: 'invariants',
    value: 'count',
    help: 'Payments and other objects for which the invariant did not hold at the last comparison.',
    labels: ['invariant'],
  },
  pinrail_reconciliation_age_seconds: {
    from: 'reconciled',
    value: 'age_seconds',
    help: 'Time since all invariants were last compared.',
    labels: [],
  },
  pinrail_settled_payments_day: {
    from: 'settled',
    value: 'count',
    help: 'Payments that succeeded in the last 24 hours.',
    labels: [],
  },
  pinrail_fee_usdc_day: {
    from: 'settled',
    value: 'fee_usdc',
    help: 'Fees of the payments that succeeded in the last 24 hours, in USDC.',
    labels: [],
  },
}

/**
 * Reads the books on each request for metrics. If the database does not answer, there is no series, because an old
 * number would hide money; `pinrail_books_readable` is 0 then.
 */
export function watchBooks(registry: Registry, sources: Books, withinMs?: number): void {
  const books = onceEach(sources, withinMs)
  const help = '1 when the database answered what this page asked it, else 0.'
  registry.watch({ name: 'pinrail_books_readable', help, labels: [] }, 'gauge', async () => {
    const answers = await Promise.allSettled(Object.values(books).map((read) => read()))
    return [{ value: answers.every(({ status }) => status === 'fulfilled') ? 1 : 0, labels: {} }]
  })
  registerNumbers(registry, books, NUMBERS)
}
