import { setTimeout as delay } from 'node:timers/promises'
import type { Progress } from '../../scripts/setup/progress.mjs'
import { checkSucceeded, type Verdict } from '../../test/e2e/harness/checker.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { FAULTS, playFaults, type Recovery } from './faults.ts'
import { type Merchants, type PaidPayment, startMerchants, type Trouble } from './merchants.ts'
import { playModes } from './modes.ts'
import { type Options, readOptions, USAGE } from './options.ts'

/** Merchants that take payments while faults are played: enough that each fault meets payments in every state. */
const MERCHANTS_DURING_FAULTS = 4
/** Milliseconds: finality, the treasury's top-ups and their bookings arrive a few blocks later. */
const BOOKS_WITHIN_MS = 90_000
/** Seconds until every merchant has had a payment: the first payments of a new process are slow. */
const WARM_UP_S = 10

type Rate = { readonly workers: number; readonly perSecond: number; readonly medianS: number }

/**
 * `npm run cluster`: runs the whole system with every part twice, under load, with everything that can happen to a part
 * of it. Then the independent checker compares the partners, the chain, the inbox and Postgres. Returns the exit code.
 */
export async function main(args: string[], progress: Progress): Promise<number> {
  const options = readOptions(args, Object.keys(FAULTS))
  const say = (line: string): void => progress.line(line)
  if (options === null) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const startedAt = Date.now()
  const cluster = await startCluster(progress)
  try {
    const paid: PaidPayment[] = []
    const rates = await measureRates(cluster, options, paid)
    await cluster.scaleWorkers(2)
    const merchants = startMerchants(cluster, MERCHANTS_DURING_FAULTS)
    const recoveries = await playFaults(cluster, merchants, { names: options.faults ?? Object.keys(FAULTS), say })
    const modes = await playModes(cluster, merchants)
    await merchants.close()
    paid.push(...merchants.paid)
    const { problems: contradictions, figures } = await verdict(cluster, paid)
    const problems = [...contradictions, ...modes.problems]
    for (const line of [...page({ rates, recoveries, merchants }), ...modes.lines]) say(line)
    say(`${JSON.stringify(figures)}, ${Math.round((Date.now() - startedAt) / 1000)} s in all`)
    for (const problem of problems) say(problem)
    say(problems.length === 0 ? 'every payment is final once' : `${problems.length} problems`)
    return problems.length === 0 ? 0 : 1
  } finally {
    await cluster.stop({ keep: options.keep })
    if (options.keep) say(`kept: ${cluster.folder}`)
  }
}

async function measureRates(cluster: Cluster, options: Options, paid: PaidPayment[]): Promise<Rate[]> {
  const rates: Rate[] = []
  for (const workers of options.workers) {
    await cluster.scaleWorkers(workers)
    const merchants = startMerchants(cluster, options.merchants)
    await delay(WARM_UP_S * 1000)
    const from = Date.now()
    await delay(options.seconds * 1000)
    const until = Date.now()
    await merchants.close()
    const counted = merchants.paid.filter(({ finalAt }) => finalAt >= from && finalAt < until)
    rates.push({
      workers,
      perSecond: (counted.length * 1000) / (until - from),
      medianS: median(counted.map(({ askedAt, finalAt }) => finalAt - askedAt)) / 1000,
    })
    paid.push(...merchants.paid)
  }
  return rates
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

async function verdict(cluster: Cluster, paid: readonly PaidPayment[]): Promise<Verdict> {
  const payments = paid.map(({ payment }) => payment)
  for (const deadline = Date.now() + BOOKS_WITHIN_MS; ; await delay(1000)) {
    const found = await checkSucceeded(cluster, payments)
    if (found.problems.length === 0 || Date.now() > deadline) return found
  }
}

function page(of: { rates: readonly Rate[]; recoveries: readonly Recovery[]; merchants: Merchants }): string[] {
  const rates = of.rates.map(
    ({ workers, perSecond, medianS }) =>
      `workers ${workers}: ${perSecond.toFixed(2)} payments a second, half of them final within ${medianS.toFixed(1)} s`,
  )
  const cells = (row: readonly (string | number)[]): string =>
    row.map((cell, index) => (index === 0 ? String(cell).padEnd(32) : String(cell).padStart(10))).join('')
  const table = of.recoveries.map((one) =>
    cells([one.fault, one.takenS, one.finalS, one.silenceS, one.merchantErrors, one.buyerErrors]),
  )
  const head = cells(['fault', 'taken s', 'final s', 'silent s', 'merchants', 'buyers'])
  return [...rates, ...(table.length > 0 ? [head, ...table] : []), ...countErrors(of.merchants.troubles)]
}

/** Returns errors by their text, the most frequent first. */
function countErrors(troubles: readonly Trouble[]): string[] {
  const counts = new Map<string, number>()
  for (const { who, what } of troubles) counts.set(`${who}: ${what}`, (counts.get(`${who}: ${what}`) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([what, count]) => `${count} × ${what}`)
}
