import type { Lead } from '../../domain/settlement/lead.ts'
import { isRecent, type SettlementDeps, watchedTreasuries } from '../context.ts'
import { createDepositWatch } from '../deposits/deposit-balances.ts'
import type { Doubts } from '../lanes/doubts.ts'
import type { Block } from '../rpc/node.ts'
import { createApplier } from './apply.ts'
import { createBalanceWatch } from './balance.ts'
import { createEndings, hasStrangers, type LaneEnds, type Place } from './endings.ts'
import { proveExpired } from './expired-payouts.ts'
import { createFinalReader } from './final-blocks.ts'
import { createMinedWatch } from './mined-payouts.ts'
import { createNonceWatch } from './nonces.ts'
import { createReconciliation } from './reconcile.ts'

/**
 * Milliseconds without a new block after which these nodes may have stopped, but not those of another engine: Polygon
 * makes a block every two seconds.
 */
const STILL_MS = 30_000

/**
 * Reads the chain: final blocks, the ends of the platform's transactions, and the balances, which it compares with the
 * books. Memory contains only what was read last; losing that does no harm.
 */
export function createObserver(deps: SettlementDeps, doubts: Doubts) {
  const { token, clock } = deps
  const scope = { token: token.address, treasuries: watchedTreasuries(deps) }
  const { applyPending, applyProven } = createApplier(deps)
  const final = createFinalReader(deps)
  const endings = createEndings(deps, scope, doubts)
  const nonces = createNonceWatch(deps, scope)
  const balance = createBalanceWatch(deps, scope, nonces)
  const deposits = createDepositWatch(deps)
  const reconcile = createReconciliation(deps, nonces)
  const watchMined = createMinedWatch(deps, balance)
  let hasAnswered = true
  let newest = { number: -1, at: Number.NEGATIVE_INFINITY }

  /** `seen`: the newest block that the round has shown. */
  function noteAnswer(seen: number, isQuorum: boolean): void {
    const at = clock().getTime()
    if (seen > newest.number) newest = { number: seen, at }
    hasAnswered = isQuorum && isRecent(newest.at, at, STILL_MS)
  }

  return {
    /**
     * Returns true if a quorum of nodes showed a final block or a new one in the last round, and the newest block is
     * recent: finality may stop for all nodes.
     */
    isAnswered: () => hasAnswered,

    async readDeposits({ lease }: Pick<Lead, 'lease'>): Promise<void> {
      if (await deposits.readLogs(lease)) await applyPending()
    },

    /**
     * Runs each part even if another one fails: what one cannot read now, another may. Throws the first failure.
     * Returns the number of ended payouts, and if deposits must be read. `head`: null if no quorum agrees on the newest
     * block.
     */
    async observe({ lease, cursor: start, lanes, work }: Lead, head: Block | null): Promise<Observed> {
      let at = null as Place | null
      let isRead = false
      let ends: LaneEnds[] = []
      let seen: number | null = null
      const observed = { ended: 0, hasDeposits: false }
      const failures: unknown[] = []
      const parts = [
        async () => {
          balance.beginRound()
          const read = await final.readFinal(lease, start)
          at = read && head && { ...read, head }
        },
        async () => at && void (ends = await endings.end({ lanes }, at)),
        async () => at && void (isRead = await balance.readLogs(lease, at, work.again || ends.some(hasStrangers))),
        async () => at && balance.hasLogs(at.cursor) && endings.judge(ends, at),
        async () => (work.pending || isRead || ends.some(hasEnded)) && applyPending(),
        async () => {
          const isUnknown = work.proven || isRead
          const payouts = ends.flatMap(({ ended }) => ended).reduce((sum, { logs }) => sum + logs.length, 0)
          if (isUnknown || payouts > 0) observed.ended = await applyProven(isUnknown ? null : payouts)
        },
        async () => at && balance.compareFinal(lease, at),
        async () => at && void (observed.hasDeposits = await deposits.compare(lease, at)),
        async () => at && reconcile(lease, at),
        async () => work.voiding && proveExpired(deps, lease, at?.cursor ?? start),
        async () => head && void (seen = await watchMined(lease, { cursor: start, head, isSent: work.sent })),
      ]
      for (const part of parts) await part().catch((error: unknown) => failures.push(error))
      noteAnswer(Math.max(at?.cursor.number ?? start.number, seen ?? 0), seen !== null || final.isAnswered())
      if (failures.length > 0) throw failures[0]
      return observed
    },
  }
}

const hasEnded = ({ ended }: LaneEnds): boolean => ended.length > 0

export type Observed = { readonly ended: number; readonly hasDeposits: boolean }
