import type { Payout } from '../domain/settlement/payout.ts'
import { ROUND, report, sign, store } from './authorizer.ts'
import type { SettlementDeps } from './context.ts'
import { checkVoids } from './rotation.ts'

/**
 * Signs the requested cancellations. Returns how many. One that another treasury has paid, or still may, waits: its
 * money would go back to the buyer, and be at the merchant too. In memory are the payments whose waiting was logged.
 */
export function createCancellations(deps: SettlementDeps): () => Promise<number> {
  const { journal, log } = deps
  const told = new Set<string>()

  async function free(payouts: readonly Payout[]): Promise<Payout[]> {
    // A treasury with a key gave none of its payouts away. What the current one signed was forgotten before this was queued.
    const forbidden = await checkVoids(
      deps,
      payouts.map((payout) => ({ ...payout, here: Math.ceil(payout.createdAt.getTime() / 1000) })),
    )
    for (const [index, { paymentId }] of payouts.entries()) {
      const why = forbidden[index]
      if (why?.kind !== 'hold' || told.has(`${paymentId} ${why.reason}`)) continue
      told.add(`${paymentId} ${why.reason}`)
      log.warn({ paymentId, detail: why.detail }, 'a payout that is to be voided waits')
    }
    return payouts.filter((_payout, index) => forbidden[index] === null)
  }

  return async () => {
    const payouts = await journal.readUncancelled(ROUND)
    // Payouts of treasuries without a key are voided when their signatures have expired (observer/expired.ts).
    const keys = new Set(deps.treasuries.map(({ address }) => address))
    const ours = payouts.filter(({ treasury }) => keys.has(treasury))
    if (ours.length === 0 || !(await journal.leaseSigning(deps.options))) return 0
    const { signed, refusals } = await sign(deps, await free(ours), (treasury, payout) =>
      treasury.signCancellation(payout),
    )
    await store(deps, signed)
    report(deps, { signed: signed.length, refusals })
    return signed.length
  }
}
