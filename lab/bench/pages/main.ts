import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createMerchant, type Merchant, type PaymentAnswer } from '../../../scripts/demo/merchant.ts'
import type { Progress } from '../../../scripts/setup/progress.mjs'
import { type System, startSystem } from '../../../scripts/system.ts'
import { removeLeftovers } from '../../../scripts/test/services/leftovers.ts'
import { until } from '../../../scripts/test/until.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import { buyPatiently } from '../buyer.ts'
import { cpuMs } from '../cpu.ts'
import { percentile } from '../measure.ts'
import { BOUND_MS, PAGES_OF_IDLE, PAGES_OF_PAID, PATIENCE_MS, Watched } from './watched.ts'

const FOLDER_PREFIX = 'pinrail-pages-'

/** Milliseconds: long enough for ticks of 10 ms to add up. */
const IDLE_MS = 20_000

/**
 * `npm run bench:pages`: opens pages on one api process while payments are made, half of them while the api is killed
 * and starts again. Prints `name value unit`, one figure a line. Returns 1 if a page missed anything.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      pages: { type: 'string', default: '10000' },
      payments: { type: 'string', default: '100' },
      'at-once': { type: 'string', default: '8' },
    },
  })
  await removeLeftovers(FOLDER_PREFIX)
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  await chmod(folder, 0o755)
  process.env['LOG_LEVEL'] ??= 'warn'
  try {
    const system = await startSystem({ dataFolder: folder, ports: 'free', progress })
    const db = createDb({ url: system.info.database_url, livemode: false, pool: 4 })
    try {
      const bench = { system, db, merchant: createMerchant(system.info), progress }
      const load = { pages: Number(values.pages), payments: Number(values.payments), atOnce: Number(values['at-once']) }
      return await measure(bench, load)
    } finally {
      await db.close()
      await system.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Bench = { readonly system: System; readonly db: Db; readonly merchant: Merchant; readonly progress: Progress }
type Load = { readonly pages: number; readonly payments: number; readonly atOnce: number }

async function measure(bench: Bench, load: Load): Promise<number> {
  const { progress, db } = bench
  const printFigure = (name: string, value: number, unit: string): void =>
    progress.line(`${name} ${value.toFixed(value < 10 ? 3 : 0)} ${unit}`)
  const idleCount = Math.ceil((load.pages - load.payments * PAGES_OF_PAID) / PAGES_OF_IDLE)
  progress.line(`making ${idleCount + load.payments} payments`)
  const payments = await inLanes(Array.from({ length: idleCount + load.payments }), 4, () => create(bench.merchant))
  const paid = payments.slice(0, load.payments)
  printFigure('load_before', loadavg()[0] ?? 0, `on ${cpus().length} cores`)

  const before = { memory: readMemory(bench.system), cpu: await idleCpu(bench.system) }
  const watched = new Watched(db)
  const began = performance.now()
  await watched.openAll(payments, { paid: new Set(paid), pages: load.pages })
  printFigure('pages_open', watched.pages.length, 'pages')
  printFigure('opened_in', performance.now() - began, 'ms')
  const during = { memory: readMemory(bench.system), cpu: await idleCpu(bench.system) }
  printFigure('memory_per_page', (during.memory - before.memory) / watched.pages.length, 'KB')
  printFigure('cpu_of_a_quiet_page', ((during.cpu - before.cpu) * 1000) / watched.pages.length, 'microseconds/s')

  progress.line('paying the first half')
  const half = Math.ceil(paid.length / 2)
  await payAll(bench, paid.slice(0, half), load.atOnce)
  await watched.allShown(paid.slice(0, half))
  progress.line('paying the second half, and killing the api during it')
  const paying = payAll(bench, paid.slice(half), load.atOnce)
  await delay(3000)
  const back = await restartApi(bench, watched)
  printFigure('api_was_down', back.downMs, 'ms')
  printFigure('reconnected_after_it_was_up_p50', percentile(back.afterUp, 0.5), 'ms')
  printFigure('reconnected_after_it_was_up_max', Math.max(...back.afterUp), 'ms')
  await paying
  await watched.allShown(paid.slice(half))

  const ends = await readEnds(db, paid)
  const inTime = latencies(watched, ends, paid.slice(0, half))
  const afterwards = latencies(watched, ends, paid.slice(half))
  for (const [name, values] of [
    ['end_shown', inTime],
    ['end_shown_over_the_restart', afterwards],
  ] as const) {
    printFigure(`${name}_p50`, percentile(values, 0.5), 'ms')
    printFigure(`${name}_p99`, percentile(values, 0.99), 'ms')
    printFigure(`${name}_max`, Math.max(...values), 'ms')
  }
  printFigure('load_after', loadavg()[0] ?? 0, `on ${cpus().length} cores`)
  const missed = await watched.missed()
  printFigure('pages_that_missed_something', missed, 'pages')
  printFigure('pages_refused', watched.refused, 'pages')
  const late = inTime.filter((ms) => ms > BOUND_MS).length
  printFigure('ends_shown_later_than_2_s', late, 'pages')
  watched.close()
  return missed === 0 && watched.refused === 0 && late === 0 ? 0 : 1
}

const create = (merchant: Merchant): Promise<PaymentAnswer> =>
  merchant.create({ amount: '49.90', currency: 'EUR', provider: 'wallet_app' })

async function payAll({ system, merchant }: Bench, payments: readonly PaymentAnswer[], atOnce: number): Promise<void> {
  await inLanes(payments, atOnce, async (payment) => {
    await buyPatiently({ merchant, sandboxUrl: system.sandboxUrl }, payment)
    await until(
      () =>
        merchant.read(payment.id).then(
          ({ status }) => status,
          () => '',
        ),
      (now) => now === 'succeeded',
      PATIENCE_MS,
    )
  })
}

/** Kills the api, and measures when each page is back after it was up again (milliseconds). */
async function restartApi({ system }: Bench, watched: Watched): Promise<{ downMs: number; afterUp: number[] }> {
  const killedAt = performance.now()
  await system.children.get('api')?.kill9()
  await until(
    () =>
      fetch(`${system.info.api_url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    Boolean,
    PATIENCE_MS,
  )
  const upAt = performance.now()
  const left = new Set(watched.pages)
  const afterUp: number[] = []
  while (left.size > 0 && performance.now() - upAt < PATIENCE_MS) {
    for (const page of left)
      if (page.isOpen()) {
        left.delete(page)
        afterUp.push(performance.now() - upAt)
      }
    await delay(20)
  }
  return { downMs: upAt - killedAt, afterUp }
}

/** Returns when the end of each was written (Unix milliseconds). */
async function readEnds(db: Db, payments: readonly PaymentAnswer[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query(
    `select payment_id, at from timeline_entry where to_status = 'succeeded' and payment_id = any($1)`,
    [payments.map(({ id }) => id)],
  )
  return new Map(rows.map((row) => [String(row['payment_id']), new Date(row['at'] as string).getTime()]))
}

function latencies(
  { shown }: Watched,
  ends: ReadonlyMap<string, number>,
  payments: readonly PaymentAnswer[],
): number[] {
  return payments.flatMap(({ id }) => (shown.get(id) ?? []).map((at) => at - (ends.get(id) ?? 0)))
}

function getPid(system: System): number {
  return system.children.get('api')?.pid() ?? 0
}

/** Returns the kilobytes that the api has in memory. */
function readMemory(system: System): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${getPid(system)}/status`, 'utf8'))?.[1] ?? 0)
}

/** Returns the CPU of the api while nothing happens (ms per second). */
async function idleCpu(system: System): Promise<number> {
  const before = cpuMs(getPid(system))
  await delay(IDLE_MS)
  return (cpuMs(getPid(system)) - before) / (IDLE_MS / 1000)
}

async function inLanes<T, R>(items: readonly T[], lanes: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const queue = items.map((item, index) => ({ item, index }))
  const results: R[] = []
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next.index] = await work(next.item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}
