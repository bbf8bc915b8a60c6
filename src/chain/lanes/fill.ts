import type { Hex } from '../../domain/hex.ts'
import type { PayoutStopReason, SignedPayout } from '../../domain/settlement/payout.ts'
import { stop } from '../authorizer.ts'
import { CLOCK_MARGIN, type SettlementDeps } from '../context.ts'
import type { Rests } from '../rests.ts'
import { simulate } from '../simulate.ts'
import { chooseFees, mostItems } from './fees.ts'
import type { LaneRound } from './round.ts'
import type { ChainView } from './sender.ts'

/** An authorization that expires sooner is signed again before it is sent: a batch may wait for some blocks. */
const RENEWAL_SECONDS = 10 * 60

/**
 * Number of times that the chain may refuse a payout that the simulation accepted, before it is stopped for an
 * operator.
 */
const MAX_REFUSALS = 3

/** `token`: the payout is not the cause. The cause of every other stop reason may be the treasury as well. */
type Meaning = PayoutStopReason | 'wait' | 'requeue' | 'token'

/**
 * The meaning of the token's refusals for a payout. Texts: FiatTokenV2_2, EIP3009.sol, Blacklistable.sol, Pausable.sol.
 */
const REFUSALS: readonly (readonly [RegExp, Meaning])[] = [
  [/authorization is used or canceled/, 'wait'],
  [/authorization is expired/, 'requeue'],
  [/transfer amount exceeds balance/, 'requeue'],
  [/account is blacklisted/, 'blacklisted'],
  [/Pausable: paused/, 'token'],
]

export function findMeaning(reason: string): Meaning {
  return REFUSALS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'refused'
}

export type Filling = { readonly rounds: readonly LaneRound[]; readonly view: ChainView; readonly rests: Rests }

/** Sends payouts by the lanes in turn, in batches as full as nodes take now. Returns the number sent. */
export async function fillLanes(deps: SettlementDeps, { rounds, view, rests }: Filling): Promise<number> {
  const { journal, codec, options } = deps
  const depth = Math.max(0, ...rounds.map((round) => round.free()))
  const slots = Array.from({ length: depth }, (_slot, turn) => rounds.filter((round) => round.free() > turn)).flat()
  if (slots.length === 0) return 0
  const size = mostItems(codec, chooseFees(view.fees, options.maxFeeWei).maxFee)
  const waiting = await journal.readAssignable({ limit: slots.length * size, resting: rests.treasuries() })
  const payouts = await renew(deps, waiting, view)
  const work = new Map<LaneRound, SignedPayout[][]>()
  for (const [index, slot] of slots.entries()) {
    const batch = payouts.slice(index * size, (index + 1) * size)
    if (batch.length > 0) work.set(slot, [...(work.get(slot) ?? []), batch])
  }
  let sent = 0
  const results = await Promise.allSettled(
    [...work].map(async ([lane, batches]) => {
      for (const batch of batches) {
        const good = await preflight(deps, batch, rests)
        sent += await lane.send(good)
      }
    }),
  )
  for (const result of results)
    if (result.status === 'rejected')
      deps.log.warn({ err: result.reason }, 'a lane could not send; tried again next round')
  return sent
}

/**
 * Puts payouts that are about to expire back into the queue: they are signed again, with the same nonce and a later
 * deadline. It compares with the chain's clock, as the token does, and with the worker's clock as far as the two may
 * differ: a worker whose clock is wrong would put back whatever another one signs.
 */
async function renew(deps: SettlementDeps, payouts: readonly SignedPayout[], view: ChainView): Promise<SignedPayout[]> {
  const { timestamp } = view.head
  const now = Math.min(deps.clock().getTime() / 1000, timestamp + CLOCK_MARGIN)
  const limit = Math.max(now, timestamp) + RENEWAL_SECONDS
  const fresh: SignedPayout[] = []
  const expiring: SignedPayout[] = []
  for (const payout of payouts) {
    if (payout.refusals >= MAX_REFUSALS && payout.state === 'authorized')
      await stop(deps, payout, { reason: 'refused', detail: `the token refused it ${payout.refusals} times` })
    else if (payout.signed.validBefore !== null && payout.signed.validBefore < limit) expiring.push(payout)
    else fresh.push(payout)
  }
  if (expiring.length > 0) await deps.journal.requeue(expiring.map(({ ownerId }) => ownerId))
  return fresh
}

/**
 * Returns the payouts that the token would accept. The others are queued again or stopped, by the token's reason, or
 * wait. Before a payout is stopped, the nodes are asked once for its treasury if the cause is the token or the
 * treasury: then no payout changes.
 */
async function preflight(deps: SettlementDeps, batch: readonly SignedPayout[], rests: Rests): Promise<SignedPayout[]> {
  const good: SignedPayout[] = []
  const looks = new Map<Hex, ReturnType<Rests['look']>>()
  for (const { item, reason } of await simulate(deps, batch, (payout) => payout)) {
    const meaning = reason === null ? null : findMeaning(reason)
    // "Used" means that the transfer or the cancellation is on chain.
    if (meaning === 'wait') continue
    if (reason === null || meaning === null) good.push(item)
    else if (meaning === 'requeue') await deps.journal.requeue([item.ownerId])
    else {
      const look = looks.get(item.treasury) ?? rests.look(item.treasury)
      looks.set(item.treasury, look)
      // A cancellation can only be tried again.
      if ((await look) !== 'pays' || meaning === 'token' || item.state === 'voiding') continue
      await stop(deps, item, { reason: meaning, detail: reason })
    }
  }
  return good
}
