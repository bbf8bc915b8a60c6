import type { Lead } from '../domain/settlement/lead.ts'
import type { Lease } from '../domain/settlement/payout.ts'
import { laneWallets, type SettlementDeps } from './context.ts'

/** True if this engine still leads. Another one may have taken the lead while nodes or a key service were slow. */
export type StillLeads = () => Promise<boolean>

export type Leadership = {
  /** Takes or renews the lead, in one statement. Null if another engine leads, or this one rests. */
  readonly take: () => Promise<Lead | null>
  readonly stillLeads: StillLeads
  /** Renews an owned lead, so that a slow round does not lose it. */
  readonly renew: () => Promise<void>
  /** Notes the end of a round of a part. `isFruitless`: another engine might get further. */
  readonly noteRound: (part: keyof typeof PARTS, isFruitless: boolean) => Promise<void>
  readonly release: () => Promise<void>
}

const PARTS = {
  observing: 'the nodes show it nothing new',
  signing: 'its treasury key signs nothing',
  sending: 'its relayer keys sign nothing',
}

/**
 * Number of lease durations for which the lead is kept in fruitless rounds, and for which it is then not taken again.
 */
const LEASES = 2

/**
 * The lead of this engine. If a part makes no progress, the engine releases the lead and rests: a worker that no node
 * answers, or whose key service refuses, would otherwise keep it from those that could work, as long as Postgres
 * answers it. A worker that is alone continues after the rest. `first`: opens the cursor if nothing was read yet.
 */
export function createLeadership(deps: SettlementDeps, first: () => Promise<void>): Leadership {
  const { journal, options, log } = deps
  const { owner, leaseMs } = options
  const mostMs = LEASES * leaseMs
  const wallets = laneWallets(deps)
  const treasuries = deps.treasuries.map(({ address }) => address)
  const fruitlessSince = new Map<string, number>()
  let waitsUntil = Number.NEGATIVE_INFINITY
  let owned: { readonly lease: Lease; readonly at: number } | null = null

  async function ask(): Promise<Lead | null> {
    const at = performance.now()
    const answer = await journal.lead({ owner, leaseMs, wallets, treasuries })
    if (answer === null) {
      await first()
      return null
    }
    owned = 'othersMs' in answer ? null : { lease: answer.lease, at }
    if ('othersMs' in answer) waitsUntil = at + Math.min(answer.othersMs, leaseMs)
    return 'othersMs' in answer ? null : answer
  }

  async function stillLeads(): Promise<boolean> {
    if (owned === null || performance.now() - owned.at < leaseMs / 2) return owned !== null
    const at = performance.now()
    const { lease } = owned
    owned = (await journal.renewLead(lease, leaseMs)) ? { lease, at } : null
    return owned !== null
  }

  async function release(): Promise<void> {
    owned = null
    await journal.releaseLead(owner)
  }

  return {
    stillLeads,
    release,
    take: async () => (performance.now() < waitsUntil ? null : ((await ask()) ?? (await askAgain()))),
    async renew() {
      await stillLeads().catch((error: unknown) =>
        log.warn({ err: error }, 'the lead could not be renewed; tried again'),
      )
    },
    async noteRound(part, isFruitless) {
      const now = performance.now()
      if (!isFruitless) return void fruitlessSince.delete(part)
      const since = fruitlessSince.get(part) ?? now
      fruitlessSince.set(part, since)
      if (now - since < mostMs || owned === null) return
      fruitlessSince.clear()
      waitsUntil = now + mostMs
      log.warn({}, `this worker leads and gets nowhere, because ${PARTS[part]}: another one may lead now`)
      await release().catch((error: unknown) =>
        log.warn({ err: error }, 'the lead runs out instead of being given back'),
      )
    },
  }

  /** Asks again after the cursor was opened. */
  async function askAgain(): Promise<Lead | null> {
    return performance.now() < waitsUntil ? null : ask()
  }
}

type Standing = Pick<Lead, 'work' | 'lanes'>

export const isUnderWay = (lead: Standing): boolean =>
  hasToSend(lead) || lead.work.sent || lead.work.voiding || lead.work.pending || lead.work.proven

export const hasToSend = ({ work, lanes }: Standing): boolean => work.send || work.sweep || lanes.some(hasOpen)

/** Gas money that is never mined stays open, but is nothing to wait for. */
const STALE_MS = 24 * 3_600_000

const hasOpen = ({ envelopes }: Lead['lanes'][number]): boolean => envelopes.some(({ ageMs }) => ageMs < STALE_MS)
