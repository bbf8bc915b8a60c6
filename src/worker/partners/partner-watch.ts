import type { Db } from '../../db/db.ts'
import {
  changeStanding,
  claimQuestions,
  clearPartner,
  listStandings,
  suspectPartner,
} from '../../db/partners/standing.ts'
import type { ProviderName } from '../../domain/methods.ts'
import { type Asked, type FailedCall, type Standing, wasAsked } from '../../domain/partner/standing.ts'
import type { Logger } from '../../runtime/log.ts'

/** Knows which partners are suspected or down, stores what this process sees, and asks partners when it is due. */
export type PartnerWatch = {
  readonly failed: (call: FailedCall) => Promise<void>
  readonly opened: (provider: ProviderName) => Promise<void>
  readonly tick: () => Promise<number>
}

type WatchDeps = {
  readonly db: Db
  /** Asks the partner, separately from any payment. */
  readonly ask: (provider: ProviderName) => Promise<Asked>
  /** Starts rounds: a partner is suspected. */
  readonly wake: () => void
  readonly log: Logger
}

export function createPartnerWatch({ db, ask, wake, log }: WatchDeps): PartnerWatch {
  let known: readonly Standing[] = []
  const storing = new Set<ProviderName>()

  /**
   * Stores one observation of each partner at a time; later calls repeat what is skipped. No call fails because of it.
   */
  async function store(provider: ProviderName, what: () => Promise<void>): Promise<void> {
    if (storing.has(provider)) return
    storing.add(provider)
    try {
      await what()
    } catch (error) {
      log.warn({ err: error, partner: provider }, 'it was not noted how a call to the partner ended')
    } finally {
      storing.delete(provider)
    }
  }

  async function find(provider: ProviderName): Promise<void> {
    const asked = await ask(provider)
    const { before, after } = await changeStanding(db, provider, (standing, now) => wasAsked(standing, asked, now))
    if (before.downSince === null && after.downSince !== null)
      log.error({ partner: provider, why: after.why }, 'the partner is down: it is not offered until it is back')
    if (before.downSince !== null && after.downSince === null)
      log.info({ partner: provider }, 'the partner is back: it is offered again')
  }

  const getStanding = (provider: ProviderName) => known.find((standing) => standing.provider === provider)

  return {
    async failed(call) {
      const isDown = (getStanding(call.provider)?.downSince ?? null) !== null
      if (isDown) return
      await store(call.provider, () => suspectPartner(db, call))
      wake()
    },
    async opened(provider) {
      // A partner that nobody suspects needs no write.
      if ((getStanding(provider)?.suspects.length ?? 0) > 0) await store(provider, () => clearPartner(db, provider))
    },
    async tick() {
      known = await listStandings(db)
      if (known.some(({ askAt }) => askAt !== null)) {
        await Promise.all((await claimQuestions(db)).map(find))
        known = await listStandings(db)
      }
      return known.filter(isDoubtful).length
    },
  }
}

/** Returns true while there is something to find out about it, or an order that it opens would clear it. */
const isDoubtful = ({ askAt, downSince, suspects }: Standing): boolean =>
  askAt !== null || downSince !== null || suspects.length > 0
