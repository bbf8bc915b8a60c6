import type { Hex } from '../../domain/hex.ts'
import type { HoldReason, SignedPayout } from '../../domain/settlement/payout.ts'
import { hold, TREASURY_BLACKLISTED } from '../authorizer.ts'
import type { SettlementDeps } from '../context.ts'
import { CLOCK_MARGIN } from '../rotation.ts'
import { simulate } from '../simulate.ts'
import { readToken } from '../token/token-state.ts'
import { chooseFees, mostItems } from './fees.ts'
import type { LaneRound } from './round.ts'
import type { ChainView } from './sender.ts'

/** An authorization that expires sooner is signed again before it is sent: a batch may wait for some blocks. */
const RENEWAL_SECONDS = 10 * 60

/** How often the chain may refuse a payout that the simulation accepted, before it is held for an operator. */
const MAX_REFUSALS = 3

/**
 * What a refusal of the token means for the payout. Texts: FiatTokenV2_2, EIP3009.sol, Blacklistable.sol,
 * Pausable.sol.
 */
const REFUSALS: readonly (readonly [RegExp, HoldReason | 'wait' | 'requeue'])[] = [
  [/authorization is used or canceled/, 'wait'],
  [/authorization is expired/, 'requeue'],
  [/transfer amount exceeds balance/, 'requeue'],
  [/account is blacklisted/, 'blacklisted'],
  [/Pausable: paused/, 'paused'],
]

export function meaningOf(reason: string): HoldReason | 'wait' | 'requeue' {
  return REFUSALS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'refused'
}

/** Sends payouts by the lanes in turn, each in batches as full as nodes take now. Returns how many were sent. */
export async function fillLanes(deps: SettlementDeps, rounds: readonly LaneRound[], view: ChainView): Promise<number> {
  const { journal, codec, options } = deps
  const depth = Math.max(0, ...rounds.map((round) => round.free()))
  const slots = Array.from({ length: depth }, (_slot, turn) => rounds.filter((round) => round.free() > turn)).flat()
  if (slots.length === 0) return 0
  const size = mostItems(codec, chooseFees(view.fees, options.maxFeeWei).maxFee)
  const waiting = await journal.readAssignable(slots.length * size)
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
        const good = await preflight(deps, batch)
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
 * What is about to expire goes back into the queue: it is signed again, with the same nonce and a later deadline. By the chain's
 * clock, as the token has it, and by ours as far as they may differ: a worker whose clock is wrong would put back whatever
 * another one signs.
 */
async function renew(deps: SettlementDeps, payouts: readonly SignedPayout[], view: ChainView): Promise<SignedPayout[]> {
  const { timestamp } = view.head
  const now = Math.min(deps.clock().getTime() / 1000, timestamp + CLOCK_MARGIN)
  const limit = Math.max(now, timestamp) + RENEWAL_SECONDS
  const fresh: SignedPayout[] = []
  const expiring: SignedPayout[] = []
  for (const payout of payouts) {
    if (payout.refusals >= MAX_REFUSALS && payout.state === 'authorized')
      await hold(deps, payout, { reason: 'refused', detail: `the token refused it ${payout.refusals} times` })
    else if (payout.signed.validBefore !== null && payout.signed.validBefore < limit) expiring.push(payout)
    else fresh.push(payout)
  }
  if (expiring.length > 0) await deps.journal.requeue(expiring.map(({ paymentId }) => paymentId))
  return fresh
}

/** The payouts that the token would accept. The others wait, are queued again or are held, by the token's reason. */
async function preflight(deps: SettlementDeps, batch: readonly SignedPayout[]): Promise<SignedPayout[]> {
  const good: SignedPayout[] = []
  const blocked = createBlocked(deps)
  for (const { item, reason } of await simulate(deps, batch, (payout) => payout)) {
    if (reason === null) good.push(item)
    else await leaveOut(deps, item, { reason, blocked })
  }
  return good
}

/**
 * Whether a treasury is on the blacklist, by quorum; null when it cannot be known now. Each is asked about once, and only
 * after a refusal: the token's text is the same for both sides of a transfer.
 */
function createBlocked({ rpc, token }: SettlementDeps): (treasury: Hex) => Promise<boolean | null> {
  const asked = new Map<Hex, Promise<boolean | null>>()
  const ask = async (treasury: Hex): Promise<boolean | null> => {
    const reads = [{ view: 'isBlacklisted', args: [treasury] }] as const
    const answer = await rpc.agreed((node) => readToken(node, token.address, { reads }))
    return answer === null ? null : answer.value[0] === 1n
  }
  return (treasury) => {
    const answer = asked.get(treasury) ?? ask(treasury)
    asked.set(treasury, answer)
    return answer
  }
}

type Refused = { readonly reason: string; readonly blocked: ReturnType<typeof createBlocked> }

async function leaveOut(deps: SettlementDeps, payout: SignedPayout, { reason, blocked }: Refused): Promise<void> {
  const meaning = meaningOf(reason)
  // A cancellation can only be tried again. "Used" means that the transfer or the cancellation is on chain.
  if (meaning === 'wait' || payout.state === 'voiding') return
  if (meaning === 'requeue') return deps.journal.requeue([payout.paymentId])
  const isTreasury = meaning === 'blacklisted' ? await blocked(payout.treasury) : false
  if (isTreasury === null) return
  // It goes on by itself, as a pause does: nothing is wrong with the merchant.
  const held = isTreasury ? TREASURY_BLACKLISTED : { reason: meaning, detail: reason }
  await hold(deps, payout, held)
}
