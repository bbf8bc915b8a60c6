import type { Hex } from '../hex.ts'
import type { MicroUsdc } from '../money.ts'
import type { TransferLimits, TreasuryLog } from './payout.ts'

type Transfer = Pick<TreasuryLog, 'counterparty' | 'microUsdc'>

/** A payment without a payout, whose nonce a transfer has used. */
export type UnpaidPayment = {
  readonly recipient: Hex
  /** Its payout's amount. Null: not converted yet. */
  readonly net: MicroUsdc | null
  /** The estimate that the merchant saw when the payment was created. */
  readonly quotedNet: MicroUsdc
}

/**
 * True for a transfer that a restored database might lack: it goes to the payment's wallet, and is the payment's net
 * amount or, before the conversion, at most its quote and the tolerance of a fill. The nonce proves nothing: whoever
 * has the treasury's key can use any nonce.
 */
export function isPlausiblePayout(transfer: Transfer, payment: UnpaidPayment, limits: TransferLimits): boolean {
  if (transfer.counterparty !== payment.recipient || !isWithinLimit(transfer, limits)) return false
  if (payment.net !== null) return transfer.microUsdc === payment.net
  const most = (BigInt(payment.quotedNet) * BigInt(100 + limits.fillTolerancePercent)) / 100n
  return BigInt(transfer.microUsdc ?? 0) <= most
}

/**
 * A release of reserves that this database lacks. `recipient` is null if the merchant has no wallet here. `mostMicro`:
 * what was due then, if no chargeback has taken of it.
 */
export type PossibleRelease = { readonly id: string; readonly recipient: Hex | null; readonly mostMicro: bigint }

/**
 * True for a transfer to the merchant's wallet of no more than its reserves that were due. The workers later accept it
 * as the payout only if it is of the exact amount.
 */
export const isPlausibleRelease = (transfer: Transfer, release: PossibleRelease, limits: TransferLimits): boolean =>
  transfer.counterparty === release.recipient &&
  isWithinLimit(transfer, limits) &&
  BigInt(transfer.microUsdc ?? 0) <= release.mostMicro

export const isWithinLimit = ({ microUsdc }: Transfer, { maxMicroPerPayout }: TransferLimits): boolean =>
  BigInt(microUsdc ?? 0) <= maxMicroPerPayout

/** Converts the limits of a configuration, in whole USDC and whole percent. */
export const transferLimits = (config: {
  readonly PAYOUT_MAX_USDC: number
  readonly PAYOUT_MAX_USDC_PER_DAY: number
  readonly CONVERSION_TOLERANCE_PERCENT: number
}): TransferLimits => ({
  maxMicroPerPayout: BigInt(config.PAYOUT_MAX_USDC) * 1_000_000n,
  maxMicroPerDay: BigInt(config.PAYOUT_MAX_USDC_PER_DAY) * 1_000_000n,
  fillTolerancePercent: config.CONVERSION_TOLERANCE_PERCENT,
})
