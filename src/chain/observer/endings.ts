import type { Hex } from '../../domain/hex.ts'
import type { LaneBooks, Lead } from '../../domain/settlement/lead.ts'
import type { Lane } from '../../domain/settlement/payout.ts'
import { laneWallets, RETAINED_STATES, type SettlementDeps } from '../context.ts'
import { createJudge, type Doubts } from '../lanes/doubts.ts'
import type { Block } from '../rpc/node.ts'
import { readBlockTimes } from './block-times.ts'
import { createEndReader, type Ended } from './envelope-ends.ts'
import type { Scope } from './facts.ts'
import type { Final } from './final-blocks.ts'
import { waitForAll } from './wait-for-all.ts'

export type Place = Final & { readonly head: Block }

/**
 * Numbers of used nonces, at a final block, or at the newest one if nodes no longer have the state of the final one.
 */
type Used = { readonly key: string; readonly isFinal: boolean; readonly counts: ReadonlyMap<Hex, number> }

/** Final blocks after which lanes with nothing in flight are examined too: somebody else may use their keys. */
const LOOK_BLOCKS = 32

/**
 * Ends envelopes that final blocks have decided, in every lane, also in one whose key was removed. Their receipts show
 * the result of each payout in them, so no other log is read while balances agree with the books.
 */
export function createEndings(deps: SettlementDeps, scope: Scope, doubts: Doubts) {
  const { rpc, journal, log } = deps
  const keyed = new Set(laneWallets(deps))
  const readEnd = createEndReader(rpc, scope)
  const judge = createJudge(deps, doubts)
  let used: Used | null = null
  let lookedAt = Number.NEGATIVE_INFINITY

  async function readUsed(books: readonly LaneBooks[], { cursor, head }: Place): Promise<Used | null> {
    const isFinal = head.number - cursor.number <= RETAINED_STATES
    const isDue = cursor.number - lookedAt >= LOOK_BLOCKS
    const wallets = books
      .filter(({ lane, envelopes }) => isDue || envelopes.length > 0 || doubts.has(lane.wallet))
      .map(({ lane }) => lane.wallet)
    if (wallets.length === 0) return null
    const key = `${isFinal ? cursor.hash : head.hash} ${wallets.join(' ')}`
    if (used?.key === key) return used
    const at = isFinal ? cursor.number : head.number
    const counts = await rpc.agreed((node) => Promise.all(wallets.map((wallet) => node.transactionCount(wallet, at))))
    if (counts === null) return null
    if (isDue) lookedAt = cursor.number
    used = { key, isFinal, counts: new Map(wallets.map((wallet, index) => [wallet, counts.value[index] ?? 0])) }
    return used
  }

  /** Ends envelopes that are final by one of the lane's own transactions. Returns what must still be judged. */
  async function endLane({ lane, envelopes }: LaneBooks, place: Place, { isFinal, counts }: Used): Promise<LaneEnds> {
    const count = counts.get(lane.wallet) ?? 0
    const over = envelopes.filter(({ nonce }) => nonce < count)
    const read = await Promise.all(over.map((envelope) => readEnd(envelope, place.cursor, isFinal)))
    const ended = read.filter((end) => end !== null)
    const known = ended.filter(({ end }) => end.state === 'finalized')
    if (known.length > 0) await conclude(lane, known, place)
    // Later transactions of a wallet without a key here are examined once its key is here again.
    const unknown = isFinal && keyed.has(lane.wallet) ? range(lane.nextNonce, count) : []
    return { lane, ended: known, foreign: ended.filter(({ end }) => end.state === 'foreign'), unknown }
  }

  /** Judges who has used nonces that no known transaction used; ends their envelopes, and adopts the nonces. */
  async function judgeLane({ lane, foreign, unknown }: LaneEnds, place: Place): Promise<void> {
    const { cursor, head } = place
    const nonces = [...foreign.map(({ end }) => end.nonce), ...unknown]
    if (!(await judge(lane, { nonces, final: cursor.number, head: head.number }))) return
    const last = unknown.at(-1)
    if (last !== undefined) {
      log.warn({ wallet: lane.wallet, nonces: unknown }, 'the chain used nonces unknown to this journal')
      await journal.adoptNonces(lane, last + 1)
    }
    if (foreign.length === 0) return
    await conclude(lane, foreign, place)
    log.error({ wallet: lane.wallet, nonces }, 'nonces were used by transactions that are not ours')
  }

  async function conclude(lane: Lane, ended: readonly Ended[], { head }: Place): Promise<void> {
    const ends = ended.map(({ end }) => end)
    const logs = ended.flatMap((one) => one.logs)
    const ownTransactions = ends.flatMap((end) => (end.state === 'finalized' ? [end.txHash] : []))
    const { treasuries } = scope
    const blockTimes = await readBlockTimes(rpc, logs)
    const found = { logs, ownTransactions, treasuries, limits: deps.options.limits, blockTimes }
    const refused = await journal.endEnvelopes(lane, { ends, found, chainTime: head.timestamp })
    if (refused.length > 0) log.warn({ wallet: lane.wallet, refused }, 'payouts refused in a batch')
  }

  return {
    /** Returns the state of the lanes. A lane that cannot be read delays no other; the first failure is thrown. */
    async end({ lanes }: Pick<Lead, 'lanes'>, place: Place): Promise<LaneEnds[]> {
      const known = await readUsed(lanes, place)
      if (known === null) return []
      const counted = lanes.filter(({ lane }) => known.counts.has(lane.wallet))
      return waitForAll(counted.map((books) => endLane(books, place, known)))
    },

    /** Judges nonces that no known transaction used. The logs up to the block must be stored. */
    async judge(ends: readonly LaneEnds[], place: Place): Promise<void> {
      await waitForAll(ends.map((end) => judgeLane(end, place)))
    },
  }
}

export type LaneEnds = {
  readonly lane: Lane
  /** Envelopes that one of the lane's own transactions has ended. */
  readonly ended: readonly Ended[]
  /** Envelopes whose nonces somebody else has used. */
  readonly foreign: readonly Ended[]
  /** Used nonces without an envelope. */
  readonly unknown: readonly number[]
}

export const hasStrangers = ({ foreign, unknown }: LaneEnds): boolean => foreign.length + unknown.length > 0

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_number, index) => from + index)
