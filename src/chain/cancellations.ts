import { ROUND, report, sign, store } from './authorizer.ts'
import type { SettlementDeps } from './context.ts'
import type { StillLeads } from './lead.ts'

/** Seconds after which a waiting void is tried again. */
export const VOID_REST_SECONDS = 60

/**
 * Signs the requested cancellations and returns their number. If a key signs nothing, its payouts rest: others get
 * their turn, and a deployment that only waits for the key is idle.
 */
export function createCancellations(deps: SettlementDeps, stillLeads: StillLeads): () => Promise<number> {
  const { journal } = deps
  // Payouts of treasuries without a key are voided when their signatures have expired (observer/expired-payouts.ts).
  const keys = deps.treasuries.map(({ address }) => address)
  return async () => {
    const ours = await journal.readUncanceled({ keys, limit: ROUND })
    if (ours.length === 0) return 0
    const refusals: unknown[] = []
    let count = 0
    // The key of another treasury may still sign.
    for (const key of keys) {
      const ofTreasury = ours.filter(({ treasury }) => treasury === key)
      const round = await sign(deps, ofTreasury, {
        how: (treasury, payout) => treasury.signCancellation(payout),
        stillLeads,
      })
      await store(deps, round.signed)
      refusals.push(...round.refusals)
      count += round.signed.length
      // A key that signed others is asked again in the next round.
      if (round.signed.length === 0 && (await stillLeads()))
        await journal.rest(ofTreasury.map(({ ownerId }) => ({ ownerId, seconds: VOID_REST_SECONDS })))
    }
    report(deps, { signed: count, refusals })
    return count
  }
}
