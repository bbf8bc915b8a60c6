import type { Payment } from '../../../domain/payment/payment-object.ts'
import type { Frame } from '../frame.tsx'

export type WalletEntry = { readonly id: string; readonly at: string; readonly who: string; readonly what: string }

export type WalletShown = {
  readonly address: string
  readonly since: string
  readonly proved: boolean
  /** The planned change; null without one. */
  readonly next: { readonly address: string; readonly at: string; readonly proved: boolean } | null
}

export type WalletView = {
  readonly frame: Frame
  readonly wallet: WalletShown | null
  /** The number of payouts to this wallet. */
  readonly received: number
  readonly payouts: readonly Payment[]
  readonly history: readonly WalletEntry[]
  /** The number of payments in progress, which keep the current wallet. */
  readonly inFlight: number
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}
