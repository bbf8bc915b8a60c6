import type { Hex } from '../../domain/hex.ts'
import type { LaneBooks } from '../../domain/settlement/lead.ts'
import { isRecent, type SettlementDeps } from '../context.ts'
import { chooseFees } from './fees.ts'
import type { ChainView } from './sender.ts'

/**
 * An envelope that is not mined after this time and this number of blocks does not get through: it is time for three
 * higher prices. Both limits, because a chain that stops is no fault of the lane. A lane that is not advanced for this
 * long has no engine.
 */
export const STRANDED_MS = 30_000
export const STRANDED_BLOCKS = 12

export type Stuck = { readonly wallet: Hex; readonly nonce: number }

/** Milliseconds between two searches of the lanes whose key this engine does not have. */
const LOOK_MS = 5000

/**
 * Frees payouts and sweeps of lanes that do not get them through: quarantined, without an engine because the key was
 * removed, or stuck. Other lanes carry them next; both transactions may be in flight, and the token accepts one.
 */
export function createRescue(deps: SettlementDeps) {
  const { journal, options, log, clock } = deps
  const carriers = deps.relayers.map(({ address }) => address.toLowerCase() as Hex)
  let looked = Number.NEGATIVE_INFINITY
  const isStopped = ({ lane, envelopes }: LaneBooks): boolean =>
    envelopes.length > 0 && (lane.status === 'quarantined' || !carriers.includes(lane.wallet))

  /** Returns true if anything was freed. */
  return async function freeStranded(stuck: readonly Stuck[], view: ChainView): Promise<boolean> {
    const now = clock().getTime()
    if (stuck.length === 0 && (!view.lanes.some(isStopped) || isRecent(looked, now, LOOK_MS))) return false
    looked = now
    // At the cap of the price, another lane would be as slow.
    const expensive = chooseFees(view.fees, options.maxFeeWei).maxFee >= options.maxFeeWei
    const freed = await journal.freeStranded({ idleMs: STRANDED_MS, slow: expensive ? [] : stuck, carriers })
    for (const { wallet, count } of freed)
      log.warn({ wallet, payouts: count }, 'a lane does not get through: other lanes carry its payouts too')
    return freed.length > 0
  }
}
