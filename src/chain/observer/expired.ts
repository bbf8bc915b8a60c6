import type { ChainCursor, Lease } from '../../domain/settlement/payout.ts'
import type { SettlementDeps } from '../context.ts'
import { CLOCK_MARGIN, checkVoids, VOID_REST_SECONDS } from '../rotation.ts'
import { readToken } from '../token/token-state.ts'

/** Most payouts checked in one round. */
const LOOKED_AT = 100

/**
 * Voids payouts that cannot be cancelled because the key of their treasury is gone. When a final block is later than
 * the deadline of every signature and the nonce is unused at that block, no signature can pay any more. A quorum of
 * nodes must say so. What waits rests, so that others have their turn and a deployment that only waits for it is idle.
 */
export async function proveExpired(deps: SettlementDeps, lease: Lease, cursor: ChainCursor): Promise<void> {
  const { journal, rpc, token, options, log } = deps
  const keys = deps.treasuries.map(({ address }) => address)
  // An engine without keys only reads.
  if (keys.length === 0) return
  const leaseSeconds = options.authorizationSeconds + CLOCK_MARGIN
  const expiring = await journal.readExpiring({ keys, leaseSeconds, limit: LOOKED_AT })
  if (expiring.length === 0) return
  const block = await rpc.agreed((node) => node.block(cursor.number))
  if (block === null || block.value.hash !== cursor.hash) return
  const { number, hash, timestamp } = block.value
  const dead = expiring.filter(({ validBefore }) => timestamp >= validBefore)
  const alive = expiring.filter(({ validBefore }) => timestamp < validBefore)
  await journal.restVoids(
    alive.map(({ paymentId, validBefore }) => ({
      paymentId,
      seconds: Math.min(VOID_REST_SECONDS, validBefore - timestamp),
    })),
  )
  if (dead.length === 0) return
  const used = await rpc.agreed((node) =>
    readToken(node, token.address, {
      reads: dead.map(({ treasury, authNonce }) => ({ view: 'authorizationState', args: [treasury, authNonce] })),
      at: number,
    }),
  )
  if (used === null) return
  const unused = dead.filter((_payout, index) => used.value[index] === 0n)
  // Nothing gives a payout to another treasury once its void was asked for.
  const asked = unused.map((payout) => ({ ...payout, here: payout.validBefore - leaseSeconds }))
  const forbidden = await checkVoids(deps, asked)
  const proved = unused.filter((_payout, index) => forbidden[index] === null)
  const undecided = new Set(unused.filter((_payout, index) => forbidden[index]?.kind === 'wait'))
  const at = { number, hash, timestamp, at: deps.clock() }
  const failed = await journal.voidExpired(lease, { block: at, unused: proved })
  for (const { paymentId, error } of failed)
    log.error({ paymentId, err: error }, 'its expiry is proved, but not recorded')
  // What was voided is no void that waits. Of the undecided the nodes may agree in the next round.
  const waiting = dead.filter((payout) => !undecided.has(payout))
  await journal.restVoids(waiting.map(({ paymentId }) => ({ paymentId, seconds: VOID_REST_SECONDS })))
}
