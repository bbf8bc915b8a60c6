import type { Expiring, ExpiryProof } from '../../db/settlement/expired-payouts.ts'
import type { Hex } from '../../domain/hex.ts'
import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import { payoutNonce } from '../../evm/payout-nonce.ts'
import { VOID_REST_SECONDS } from '../cancellations.ts'
import { longestValidity, type SettlementDeps, watchedTreasuries } from '../context.ts'
import { readToken } from '../token/token-state.ts'

/** Maximum number of payouts checked in one round. */
const LOOKED_AT = 100

/**
 * Ends payouts that a treasury without a key can neither pay nor cancel. If a final block is later than the deadline of
 * every signature and the nonce is unused at that block, no signature can pay any more: a void is proved, and a payout
 * of a lost treasury goes to its successor. A quorum of nodes must confirm this for the nonce under each treasury: a
 * backup may have forgotten that another treasury took the payout over and paid it. Then the payout goes to that one,
 * whose log ends it. A payout that waits rests: others get their turn, and a deployment that only waits for it is idle.
 */
export async function proveExpired(deps: SettlementDeps, lease: Lease, cursor: ChainCursor): Promise<void> {
  const { journal, rpc, options } = deps
  const keys = deps.treasuries.map(({ address }) => address)
  // An engine without keys only reads.
  if (keys.length === 0) return
  const expiring = await journal.readExpiring({ keys, validity: longestValidity(options), limit: LOOKED_AT })
  if (expiring.length === 0) return
  const answer = await rpc.agreed((node) => node.block(cursor.number))
  if (answer === null || answer.value.hash !== cursor.hash) return
  const block: ExpiryProof = answer.value
  const dead = expiring.filter(({ validBefore }) => block.timestamp >= validBefore)
  const used = dead.length === 0 ? [] : await readUsed(deps, dead, block)
  if (used === null) return
  const rests = await endDead(deps, lease, { block, dead, used })
  const alive = expiring.filter(({ validBefore }) => block.timestamp < validBefore)
  await journal.rest([
    ...rests.map(({ ownerId }) => ({ ownerId, seconds: VOID_REST_SECONDS })),
    ...alive.map(({ ownerId, validBefore }) => ({
      ownerId,
      seconds: Math.min(VOID_REST_SECONDS, validBefore - block.timestamp),
    })),
  ])
}

type Dead = { readonly block: ExpiryProof; readonly dead: readonly Expiring[]; readonly used: readonly (Hex | null)[] }

/** Voids and moves payouts. Returns those that it neither voided nor moved, and those whose record failed. */
async function endDead(deps: SettlementDeps, lease: Lease, { block, dead, used }: Dead): Promise<Expiring[]> {
  const { journal, log } = deps
  const target = dead.map(({ treasury, successor, isVoid, isStolen }, index): Hex | 'void' | null => {
    const payer = used[index] ?? null
    // The treasury's own log ends the payout, unless a thief has used its nonce.
    if (payer !== null && !(payer === treasury && isStolen)) return payer === treasury ? null : payer
    return isVoid ? 'void' : successor
  })
  const moving = dead.flatMap((payout, index) => {
    const to = target[index]
    return to === 'void' || to === null || to === undefined
      ? []
      : [{ ...payout, to, toNonce: deriveNonce(deps, payout, to) }]
  })
  if (moving.length > 0) {
    const moved = await journal.moveDead(lease, { block, dead: moving })
    log.warn({ moved }, 'payouts of a lost treasury are taken over')
  }
  const unused = dead.filter((_payout, index) => target[index] === 'void')
  const failed = unused.length === 0 ? [] : await journal.voidExpired(lease, { block, unused })
  for (const { ownerId, error } of failed) log.error({ ownerId, err: error }, 'its expiry is proved, but not recorded')
  const refused = new Set(failed.map(({ ownerId }) => ownerId))
  return dead.filter(({ ownerId }, index) => target[index] === null || refused.has(ownerId))
}

const deriveNonce = ({ token }: SettlementDeps, { ownerId }: Expiring, treasury: Hex): Hex =>
  payoutNonce({ chainId: token.chainId, token: token.address, treasury, ownerId })

/**
 * Returns for each payout the treasury whose nonce for it is used at the block, its own first, or null if none is.
 * Returns null if no quorum answers.
 */
async function readUsed(
  deps: SettlementDeps,
  payouts: readonly Expiring[],
  { number: at }: ExpiryProof,
): Promise<readonly (Hex | null)[] | null> {
  const nonces = payouts.map((payout) =>
    [...new Set([payout.treasury, ...watchedTreasuries(deps)])].map((treasury) => ({
      treasury,
      nonce: deriveNonce(deps, payout, treasury),
    })),
  )
  const reads = nonces.flat().map(({ treasury, nonce }) => ({
    view: 'authorizationState' as const,
    args: [treasury, nonce],
  }))
  const states = await deps.rpc.agreed((node) => readToken(node, deps.token.address, { reads, at }))
  if (states === null) return null
  const used = new Set(reads.filter((_read, index) => states.value[index] !== 0n).map(({ args }) => args[1]))
  return nonces.map((mine) => mine.find(({ nonce }) => used.has(nonce))?.treasury ?? null)
}
