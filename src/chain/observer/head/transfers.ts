import { describeTransfer, type TreasuryLog } from '../../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../../context.ts'
import { type Fact, type Scope, shareGas } from '../facts.ts'

/** Pauses every lane when a quorum shows a transfer out of a treasury that we did not authorize, in a block that is not final. */
export function createTransferWatch(deps: SettlementDeps, { treasuries }: Scope) {
  const { journal, log, options } = deps
  const watch = { treasuries, limits: options.limits }

  /** By what a quorum shows. */
  return async function watchTransfers(facts: readonly Fact[]): Promise<void> {
    const logs = facts.map((fact): TreasuryLog => ({ ...fact, gasShare: null }))
    const suspects = await journal.findSuspects({ logs, ownTransactions: [], ...watch })
    if (suspects.length === 0) return
    const unknown = await journal.findUnknown({ ...(await shareGas(deps, suspects)), ...watch })
    const [first, ...more] = unknown
    if (first === undefined) return
    log.error({ transfer: first, others: more.length }, 'an unknown transfer leaves the treasury; all lanes pause')
    const untilFinal = Math.max(...unknown.map(({ blockNumber }) => blockNumber))
    await journal.pause({ reason: describeTransfer(first), untilFinal })
  }
}
