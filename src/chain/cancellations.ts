import type { Payout } from '../domain/settlement/payout.ts'
import { ROUND, report, sign, store } from './authorizer.ts'
import type { SettlementDeps } from './context.ts'
import type { StillLeads } from './lead.ts'
import { checkVoids, VOID_REST_SECONDS } from './rotation.ts'

/**
 * Signs the requested cancellations. Returns how many. One that another treasury has paid, or still may, waits: its
 * money would go back to the buyer, and be at the merchant too. It rests, as does what a key signs nothing of, so that others have
 * their turn and a deployment that only waits for it is idle. In memory are the payments whose waiting was logged.
 */
export function createCancellations(deps: SettlementDeps, stillLeads: StillLeads): () => Promise<number> {
  const { journal, log } = deps
  const told = new Set<string>()

  const rest = (paymentIds: readonly string[]): Promise<void> =>
    journal.restVoids(paymentIds.map((paymentId) => ({ paymentId, seconds: VOID_REST_SECONDS })))

  async function free(payouts: readonly Payout[]): Promise<Payout[]> {
    // A treasury with a key gave none of its payouts away: what the current one signed was forgotten before this was queued,
    // or before a restore.
    const forbidden = await checkVoids(
      deps,
      payouts.map((payout) => ({ ...payout, here: Math.ceil(payout.createdAt.getTime() / 1000) })),
    )
    const waiting: string[] = []
    for (const [index, { paymentId }] of payouts.entries()) {
      const why = forbidden[index]
      // One of which the nodes do not agree just now is looked at in the next round.
      if (why?.kind !== 'hold') continue
      waiting.push(paymentId)
      if (told.has(`${paymentId} ${why.reason}`)) continue
      told.add(`${paymentId} ${why.reason}`)
      log.warn({ paymentId, detail: why.detail }, 'a payout that is to be voided waits')
    }
    await rest(waiting)
    return payouts.filter((_payout, index) => forbidden[index] === null)
  }

  return async () => {
    // Payouts of treasuries without a key are voided when their signatures have expired (observer/expired.ts).
    const keys = deps.treasuries.map(({ address }) => address)
    const ours = await journal.readUncancelled({ keys, limit: ROUND })
    if (ours.length === 0) return 0
    const toSign = await free(ours)
    const refusals: unknown[] = []
    let count = 0
    // The key of another treasury may still sign.
    for (const key of keys) {
      const ofTreasury = toSign.filter(({ treasury }) => treasury === key)
      const round = await sign(deps, ofTreasury, {
        how: (treasury, payout) => treasury.signCancellation(payout),
        stillLeads,
      })
      await store(deps, round.signed)
      refusals.push(...round.refusals)
      count += round.signed.length
      // A key that signs others is asked again in the next round.
      if (round.signed.length === 0 && (await stillLeads())) await rest(ofTreasury.map(({ paymentId }) => paymentId))
    }
    report(deps, { signed: count, refusals })
    return count
  }
}
