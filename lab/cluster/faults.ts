import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import type { Merchants } from './merchants.ts'

/** The faults that happen, one after the other, while merchants take payments. */

export const FAULTS: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = {
  'rolling restart of the apis': (cluster) => roll(cluster, ['api-1', 'api-2']),
  'rolling restart of the workers': (cluster) => roll(cluster, ['worker-1', 'worker-2']),
  'kill -9 api': (cluster) => kill(cluster, 'api-1'),
  'kill -9 worker': (cluster) => kill(cluster, 'worker-1'),
  'kill -9 frontend': (cluster) => kill(cluster, 'frontend-1'),
  'kill -9 history': (cluster) => kill(cluster, 'history-1'),
  'kill -9 matching': (cluster) => kill(cluster, 'matching-1'),
  'kill -9 temporal worker': (cluster) => kill(cluster, 'temporal-worker'),
  'kill -9 pgbouncer': (cluster) => kill(cluster, 'pgbouncer'),
  'kill -9 standby': (cluster) => kill(cluster, 'standby'),
  'kill -9 primary': (cluster) => kill(cluster, 'primary'),
  'failover of the database': failOver,
}

/** Milliseconds: longer than api and worker take to finish work in progress. */
const GRACE_MS = 40_000

export type Recovery = {
  readonly fault: string
  /** Seconds from the fault until a payment that was requested after it was taken, and was final. */
  readonly takenS: number
  readonly finalS: number
  /** Seconds of the longest time in which no payment became final. */
  readonly silenceS: number
  readonly merchantErrors: number
  readonly buyerErrors: number
}

/** Plays the faults by name. After each, a payment that began after it must be final before the next one. */
export async function playFaults(
  cluster: Cluster,
  merchants: Merchants,
  { names, say }: { readonly names: readonly string[]; readonly say: (line: string) => void },
): Promise<Recovery[]> {
  const recoveries: Recovery[] = []
  for (const fault of names) {
    const act = FAULTS[fault]
    if (act === undefined) throw new Error(`there is no fault ${fault}`)
    const at = Date.now()
    const acting = act(cluster)
    const probe = await merchants.pay()
    await acting
    await settle(merchants, at)
    const until = Date.now()
    const troubles = merchants.troubles.filter((trouble) => trouble.at >= at)
    const recovery = {
      fault,
      takenS: seconds(probe.takenAt - at),
      finalS: seconds(probe.finalAt - at),
      silenceS: seconds(
        longestSilence(
          merchants.paid.map(({ finalAt }) => finalAt),
          { from: at, until },
        ),
      ),
      merchantErrors: troubles.filter(({ who }) => who === 'merchant').length,
      buyerErrors: troubles.filter(({ who }) => who === 'buyer').length,
    }
    say(`${fault}: the next payment was taken after ${recovery.takenS} s and final after ${recovery.finalS} s`)
    recoveries.push(recovery)
  }
  return recoveries
}

/** Waits for some payments of the usual pace, so that the next fault does not meet the rest of this one. */
async function settle(merchants: Merchants, since: number): Promise<void> {
  const enough = merchants.paid.filter(({ askedAt }) => askedAt >= since).length + 3
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(100))
    if (merchants.paid.filter(({ askedAt }) => askedAt >= since).length >= enough) return
}

function longestSilence(finals: readonly number[], { from, until }: { from: number; until: number }): number {
  const within = [from, ...finals.filter((at) => at >= from && at <= until).toSorted((a, b) => a - b), until]
  return Math.max(...within.slice(1).map((at, index) => at - (within[index] ?? at)))
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10

/** Restarts each in turn: the next one only when the last one is back. */
async function roll(cluster: Cluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const child = getChild(cluster, name)
    await child.stop(GRACE_MS)
    await child.start()
  }
}

async function kill(cluster: Cluster, name: string): Promise<void> {
  const child = getChild(cluster, name)
  await child.kill9()
  await child.untilReady()
}

async function failOver(cluster: Cluster): Promise<void> {
  await getChild(cluster, 'primary').kill9({ stayDown: true })
  await cluster.databases.failOver()
}

function getChild(cluster: Cluster, name: string) {
  const child = cluster.children.get(name)
  if (child === undefined) throw new Error(`there is no ${name}`)
  return child
}
