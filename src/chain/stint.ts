import type { LeaseName } from '../db/settlement/context.ts'
import type { SettlementDeps } from './context.ts'

/** How long this engine goes on with a lease. */
export type Stint = {
  /** Whether the lease is left to other engines for now. */
  rests(): boolean
  /** Told after each round with the lease. `isFruitless`: another engine might get further. */
  ended(isFruitless: boolean): Promise<void>
}

/**
 * For how many times its duration a lease is kept in rounds that lead to nothing, and is not asked for after that. Others look
 * for it every five seconds when they have nothing to do, which is the duration of a lease.
 */
const LEASES = 2

/**
 * Gives a lease back whose rounds lead to nothing, and rests: a worker that no node answers, or whose key service refuses, would
 * keep it from those that could work, as long as Postgres answers it. Where there is no other worker, it goes on after the rest.
 */
export function createStint({ journal, options, log }: SettlementDeps, lease: LeaseName): Stint {
  const mostMs = LEASES * options.leaseMs
  let fruitlessSince: number | null = null
  let restsUntil = Number.NEGATIVE_INFINITY
  let told = false

  return {
    rests: () => performance.now() < restsUntil,
    async ended(isFruitless) {
      const now = performance.now()
      if (!isFruitless) {
        fruitlessSince = null
        told = false
        return
      }
      fruitlessSince ??= now
      if (now - fruitlessSince < mostMs) return
      fruitlessSince = null
      restsUntil = now + mostMs
      if (!told) log.warn({ lease }, 'this worker gets nowhere with a lease: now and then another one may have it')
      told = true
      await journal
        .giveBack(options.owner, lease)
        .catch((error: unknown) => log.warn({ err: error, lease }, 'a lease runs out instead of being given back'))
    },
  }
}
