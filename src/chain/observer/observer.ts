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
      const failures: unknown[] = []
      const attempt = <T>(part: () => Promise<T>, otherwise: T): Promise<T> =>
        part().catch((error: unknown) => {
          failures.push(error)
          return otherwise
        })
      const run = (part: () => Promise<unknown>): Promise<unknown> => attempt(part, null)
      balance.beginRound()
      const read = await attempt(() => final.readFinal(lease, start), null)
      const at: Place | null = read && head && { ...read, head }
      const ends = at === null ? [] : await attempt(() => endings.end({ lanes }, at), [])
      const readsLogs = work.again || ends.some(hasStrangers)
      const hasRead = at !== null && (await attempt(() => balance.readLogs(lease, at, readsLogs), false))
      if (at !== null && balance.hasLogs(at.cursor)) await run(() => endings.judge(ends, at))
      if (work.pending || hasRead || ends.some(hasEnded)) await run(applyPending)
      const most = work.proven || hasRead ? null : countLogs(ends)
      const ended = most === 0 ? 0 : await attempt(() => applyProven(most), 0)
      if (at !== null) await run(() => balance.compareFinal(lease, at))
      const hasDeposits = at !== null && (await attempt(() => deposits.compare(lease, at), false))
      if (at !== null) await run(() => reconcile(lease, at))
      if (work.voiding) await run(() => proveExpired(deps, lease, at?.cursor ?? start))
      const newBlock = head && { cursor: start, head, isSent: work.sent }
      const seen = newBlock && (await attempt(() => watchMined(lease, newBlock), null))
      noteAnswer(Math.max(at?.cursor.number ?? start.number, seen ?? 0), seen !== null || final.isAnswered())
      if (failures.length > 0) throw failures[0]
      return { ended, hasDeposits }
    },
  }
}

const countLogs = (ends: readonly LaneEnds[]): number =>
  ends.flatMap(({ ended }) => ended).reduce((sum, { logs }) => sum + logs.length, 0)

const hasEnded = ({ ended }: LaneEnds): boolean => ended.length > 0

export type Observed = { readonly ended: number; readonly hasDeposits: boolean }
