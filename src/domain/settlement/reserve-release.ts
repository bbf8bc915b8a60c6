import type { Hex } from '../hex.ts'
import { formatUsdc, type MicroUsdc } from '../money.ts'

/** The micro-USDC that a payment holds back, and those of its reserve that were never released. */
export type ReleasableReserve = {
  readonly paymentId: string
  readonly heldMicro: MicroUsdc
  readonly unreleasedMicro: MicroUsdc
}

/**
 * Shares a transfer among the payments of its release: first what they hold back, in their order, then what chargebacks
 * have taken since, which becomes a loss of the platform. Returns null if their reserves were less.
 */
export function shareRelease(
  paidMicro: MicroUsdc,
  reserves: readonly ReleasableReserve[],
): { readonly paymentId: string; readonly micro: MicroUsdc }[] | null {
  let left = BigInt(paidMicro)
  const take = (most: bigint): bigint => {
    const taken = left < most ? left : most
    left -= taken
    return taken
  }
  const held = reserves.map(({ heldMicro }) => take(BigInt(heldMicro)))
  const parts = reserves.map(({ paymentId, heldMicro, unreleasedMicro }, index) => ({
    paymentId,
    micro: ((held[index] ?? 0n) + take(BigInt(unreleasedMicro) - BigInt(heldMicro))).toString(),
  }))
  return left > 0n ? null : parts.filter(({ micro }) => micro !== '0')
}

/** A release of reserves that is final on chain. Times are ISO 8601. */
export type PaidRelease = {
  readonly id: string
  readonly merchantId: string
  readonly livemode: boolean
  /** Its reserves were due on this day (UTC) or before it. */
  readonly dueOn: string
  readonly payments: number
  readonly micro: MicroUsdc
  readonly recipient: string
  readonly chainId: number
  readonly token: string
  readonly txHash: Hex
  readonly finalizedAt: string
  readonly createdAt: string
}

/** A release of reserves as its event shows it. */
export const renderRelease = (release: PaidRelease) => ({
  id: release.id,
  object: 'reserve_release' as const,
  livemode: release.livemode,
  due_on: release.dueOn,
  payments: release.payments,
  amount_usdc: formatUsdc(release.micro),
  wallet: release.recipient,
  chain_id: release.chainId,
  token: release.token,
  tx_hash: release.txHash,
  finalized_at: release.finalizedAt,
  created_at: release.createdAt,
})
