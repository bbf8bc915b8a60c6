import type { Hex } from '../hex.ts'
import { formatUsdc, type MicroUsdc } from '../money.ts'

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
