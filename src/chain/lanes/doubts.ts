import type { Hex } from '../../domain/hex.ts'
import type { Lane } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { areExplained } from './foreign-nonces.ts'

/** Lanes whose nonces were used by transactions that nodes do not show now. They send nothing new. */
export type Doubts = Map<Hex, readonly number[]>

type Use = { readonly nonces: readonly number[]; readonly final: number; readonly head: number }

/**
 * Judges nonces of a lane that final blocks have used and this journal has not: after a restore, or if somebody else
 * has the key. A stranger's use stops the lane, and other lanes carry its payouts. Returns false if the cause cannot be
 * known now.
 */
export function createJudge(deps: SettlementDeps, doubts: Doubts) {
  const { journal, log } = deps
  return async function judge(lane: Lane, use: Use): Promise<boolean> {
    const { wallet } = lane
    const { nonces } = use
    doubts.delete(wallet)
    if (lane.status === 'quarantined' || nonces.length === 0) return true
    const explained = await areExplained(deps, wallet, use).catch((error: unknown) => {
      const about = { wallet, nonces, err: error }
      log.warn(about, 'who used these nonces cannot be known now: nothing new is sent by the lane')
      doubts.set(wallet, nonces)
      return null
    })
    if (explained !== false) return explained === true
    log.error({ wallet, nonces }, 'somebody else uses the key of this lane: it is stopped')
    const reason = `${nonces.length === 1 ? 'nonce' : 'nonces'} ${nonces.join(', ')} ${nonces.length === 1 ? 'was' : 'were'} used by transactions that are not ours`
    await journal.setLaneStatus(lane, { status: 'quarantined', reason })
    return true
  }
}
