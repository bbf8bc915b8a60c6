import type { Db } from '../../db/db.ts'
import { finishSweep, storeDisputes, takeSweeps } from '../../db/partners/disputes.ts'
import type { ProviderName } from '../../domain/methods.ts'
import type { PartnerDispute } from '../../domain/payment/partner.ts'
import type { Logger } from '../../runtime/log.ts'

const HOUR_SECONDS = 3600

/** A dispute ends within half a year; one that is older has its last state. */
const DISPUTE_DAYS = 200

type SweepDeps = {
  readonly db: Db
  /** Lists the disputes that were opened at or after `since` (Unix seconds); none if readings show them without it. */
  readonly list: (provider: ProviderName, since: number) => Promise<readonly PartnerDispute[]>
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/**
 * Lists the disputes of each partner hourly, in one of the workers, and wakes the payments of those that are new or have
 * changed. Returns the number of these disputes.
 */
export function createDisputeSweep({ db, list, clock, log }: SweepDeps): () => Promise<number> {
  const since = () => Math.floor(clock() / 1000) - DISPUTE_DAYS * 86_400
  return async function tick(): Promise<number> {
    const counts = await Promise.all(
      (await takeSweeps(db)).map(async (sweep) => {
        const { provider } = sweep
        try {
          const stored = await storeDisputes(db, { provider, disputes: await list(provider, since()) })
          await finishSweep(db, sweep, HOUR_SECONDS)
          if (stored > 0) log.info({ partner: provider, disputes: stored }, 'disputes are new or have changed')
          return stored
        } catch (error) {
          log.warn({ err: error, partner: provider }, 'could not list the disputes of the partner yet')
          return 0
        }
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
}
