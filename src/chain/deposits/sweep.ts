import type { Sweep, Unswept } from '../../domain/settlement/deposit.ts'
import { signTransferAuthorization } from '../authorization.ts'
import type { SettlementDeps } from '../context.ts'
import type { LaneRound } from '../lanes/lane.ts'
import { simulate } from '../simulate.ts'
import { type DepositKeys, sweepNonce } from './deposit-keys.ts'
import { authorizationOf, SWEEP_VALID_BEFORE } from './sweep-authorization.ts'

/** Most sweeps signed in one round. With its key derivation a sweep takes about as long as a payout. */
const SIGNED_AT_ONCE = 100

/**
 * Moves USDC from the addresses of payments to the treasury. Each address signs a transfer; the relayer lanes send it
 * and pay the gas. Payouts come first, and a full lane is skipped.
 */
export async function sweepDeposits(deps: SettlementDeps, rounds: readonly LaneRound[]): Promise<void> {
  const { deposits, journal, codec, log } = deps
  if (deposits === null || deposits.keys === null) return
  for (const unswept of await journal.readUnswept(SIGNED_AT_ONCE))
    await journal.storeSweep(await signSweep(deps, deposits.keys, unswept))
  const lane = rounds.find((round) => round.free() > 0)
  if (lane === undefined) return
  const sweeps = await journal.readSendableSweeps(codec.maxItems)
  if (sweeps.length === 0) return
  const good = await preflight(deps, sweeps)
  if (good.length > 0) await lane.sweep(good)
  if (good.length < sweeps.length)
    log.warn({ sweeps: sweeps.length - good.length }, 'sweeps that the token would refuse now wait')
}

async function signSweep(deps: SettlementDeps, keys: DepositKeys, unswept: Unswept): Promise<Sweep> {
  const { token, treasuries } = deps
  const treasury = treasuries[0]?.address
  if (treasury === undefined) throw new Error('a sweep needs a treasury')
  const account = keys.accountOf(unswept.paymentId)
  if (account.address.toLowerCase() !== unswept.address)
    throw new Error(`the key of ${unswept.address} does not follow from this deposit seed`)
  const authNonce = sweepNonce({ ...unswept, chainId: token.chainId, token: token.address })
  const signature = await signTransferAuthorization(account, token, {
    from: unswept.address,
    to: treasury,
    micro: BigInt(unswept.micro),
    validBefore: SWEEP_VALID_BEFORE,
    nonce: authNonce,
  })
  return { ...unswept, treasury, authNonce, signature }
}

/** The sweeps that the token would accept, so that no gas is spent on others. */
async function preflight(deps: SettlementDeps, sweeps: readonly Sweep[]): Promise<Sweep[]> {
  const good: Sweep[] = []
  for (const { item, reason } of await simulate(deps, sweeps, authorizationOf)) {
    if (reason === null) good.push(item)
    else if (/authorization is used or canceled/.test(reason)) await deps.journal.abandonSweep(item)
  }
  return good
}
