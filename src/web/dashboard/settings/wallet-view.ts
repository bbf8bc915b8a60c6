import type { Payment } from '../../../domain/payment/payment-object.ts'
import type { Frame } from '../frame.tsx'

/** A change that was made or planned. */
export type WalletEntry = { readonly id: string; readonly at: string; readonly who: string; readonly what: string }

export type WalletShown = {
  readonly address: string
  readonly since: string
  readonly proved: boolean
  /** What waits; null when nothing does. */
  readonly next: { readonly address: string; readonly at: string; readonly proved: boolean } | null
}

export type WalletView = {
  readonly frame: Frame
  readonly wallet: WalletShown | null
  /** Payments that this wallet was paid. */
  readonly received: number
  readonly payouts: readonly Payment[]
  readonly history: readonly WalletEntry[]
  /** Payments under way, which keep the wallet of now. */
  readonly inFlight: number
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}
