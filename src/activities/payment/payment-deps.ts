import type { Db, Statement, Tx } from '../../db/db.ts'
import type { Currency } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import type { ProviderUsed } from '../../domain/methods.ts'
import type { MicroUsdc } from '../../domain/money.ts'
import type { OpenPayout } from '../../domain/settlement/payout.ts'
import type { Converter, Rate } from '../../partners/converter/converter.ts'
import type { PaymentPartner } from '../../partners/provider.ts'
import type { ChangeContext } from '../../payments/change-payment.ts'

export type PaymentDeps = {
  readonly db: Db
  readonly partners: Record<ProviderUsed, PaymentPartner>
  /** The platform's account at each partner: an order of another account does not belong to the platform. */
  readonly accounts: Record<ProviderUsed, string>
  readonly converter: Converter
  /** Set if conversions are filled from the platform's own USDC. */
  readonly float: Float | null
  readonly rates: { current(currency: Currency): Promise<Rate> }
  readonly context: ChangeContext
  readonly payouts: PayoutQueue
}

export type Float = {
  /** A condition: true while a conversion of this gross amount leaves the reserve. */
  leavesReserve(grossMicro: MicroUsdc): Statement
}

export type PayoutQueue = {
  getTreasury(paymentId: string): Hex
  queue(payout: {
    paymentId: string
    livemode: boolean
    chainId: number
    token: Hex
    treasury: Hex
    recipient: Hex
    microUsdc: string
  }): Statement
  /** Stops a payout that was not sent. False if it is on its way or has ended. */
  stop(tx: Tx, paymentId: string, detail: string): Promise<boolean>
  /**
   * `voiding`: the engine is to prove that it can never be paid, even if a restored backup lacks it. `none`: there was
   * no payout. `ended`: paid or voided.
   */
  void(tx: Tx, paymentId: string): Promise<'voiding' | 'none' | 'ended'>
  /** The payout that has not ended, or for a payment without one what a restored backup might lack; null: neither. */
  open(tx: Tx, paymentId: string): Promise<OpenPayout | null>
}

/** A call to a partner or to the converter is aborted after this time; its outcome is then unknown. */
export const CALL_TIMEOUT_MS = 10_000
