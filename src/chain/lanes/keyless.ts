import type { Hex } from '../../domain/hex.ts'
import { isRecent, type SettlementDeps } from '../context.ts'
import { endLane } from './lane.ts'
import type { ChainView } from './sender.ts'
import { STRANDED_MS } from './stranded.ts'

/** Time between two looks: nothing waits for it, and what was never mined is asked about for ever. */
const LOOK_MS = 60_000

/**
 * Ends envelopes of lanes whose keys were removed while something was on its way. What they have sent may still be
 * mined, and its gas was paid by us. A lane whose key another engine has is taken back by it.
 */
export function createKeylessEnding(deps: SettlementDeps) {
  const { journal, relayers, funding, log, clock } = deps
  const senders = [...relayers, ...(funding === null ? [] : [funding.account])]
  const keyed = senders.map(({ address }) => address.toLowerCase() as Hex)
  const failed = (error: unknown): [] => {
    log.warn({ err: error }, 'what lanes without keys have sent could not be ended; tried again')
    return []
  }
  let looked = Number.NEGATIVE_INFINITY

  return async function endKeyless(view: ChainView): Promise<void> {
    const now = clock().getTime()
    if (isRecent(looked, now, LOOK_MS)) return
    looked = now
    const keyless = await journal.takeKeyless({ idleMs: STRANDED_MS, keyed }).catch(failed)
    for (const lane of keyless) await endLane(deps, lane, view).catch(failed)
  }
}
