import { describeTransfer, type TreasuryLog } from '../../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../../context.ts'
import { type Fact, type Scope, shareGas, treasuryLogs } from '../facts.ts'
import type { Blocks } from '../reach.ts'

/** Pauses every lane when a quorum shows a transfer out of a treasury that we did not authorize, in a block that is not final. */
export function createTransferWatch(deps: SettlementDeps, scope: Scope) {
  const { journal, rpc, log } = deps

  /** In one question, since one node may name thousands. Null when there is no quorum now. */
  async function shownByQuorum<T extends Fact>(suspects: readonly T[], { from, to }: Blocks): Promise<T[] | null> {
    if (suspects.length === 0) return []
    const agreed = await rpc.agreed((node) => treasuryLogs(node, scope, { fromBlock: from, toBlock: to }))
    const shown = new Set(agreed?.value.map(placeOf))
    return agreed && suspects.filter((suspect) => shown.has(placeOf(suspect)))
  }

  /** By what one node shows. False when a suspicion can neither be confirmed nor dismissed now. */
  return async function watchTransfers(facts: readonly Fact[], range: Blocks): Promise<boolean> {
    const { treasuries } = scope
    const logs = facts.map((fact): TreasuryLog => ({ ...fact, gasShare: null }))
    const suspects = await journal.findSuspects({ logs, ownTransactions: [], treasuries })
    const shown = await shownByQuorum(suspects, range)
    if (shown === null) return false
    const [invented, ...others] = suspects.filter((suspect) => !shown.includes(suspect))
    if (invented !== undefined)
      log.warn(
        { transfer: invented, others: others.length },
        'one node shows what a quorum does not: it counts for nothing',
      )
    if (shown.length === 0) return true
    const unknown = await journal.findUnknown({ ...(await shareGas(deps, shown)), treasuries })
    const [first, ...more] = unknown
    if (first === undefined) return true
    log.error({ transfer: first, others: more.length }, 'an unknown transfer leaves the treasury; all lanes pause')
    const untilFinal = Math.max(...unknown.map(({ blockNumber }) => blockNumber))
    await journal.pause({ reason: describeTransfer(first), untilFinal })
    return true
  }
}

const placeOf = ({ txHash, logIndex, blockHash }: Pick<Fact, 'txHash' | 'logIndex' | 'blockHash'>): string =>
  `${blockHash}:${txHash}:${logIndex}`
