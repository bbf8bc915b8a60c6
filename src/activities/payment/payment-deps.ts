import type { Db, Statement, Tx } from '../../db/db.ts'
import type { ChangeContext } from '../../db/payments/payment-changes.ts'
import type { Currency } from '../../domain/currencies.ts'
import type { Hex } from '../../domain/hex.ts'
import type { ProviderUsed } from '../../domain/methods.ts'
import type { OpenPayout } from '../../domain/settlement/payout.ts'
import type { Converter, Rate } from '../../providers/converter/converter.ts'
import type { PaymentPartner } from '../../providers/provider.ts'

/** What the activities of a payment are made of; the composition root fills it in. */
export type PaymentDeps = {
  readonly db: Db
  readonly partners: Record<ProviderUsed, PaymentPartner>
  /** Our account at each partner: an order of another account is not ours. */
  readonly accounts: Record<ProviderUsed, string>
  readonly converter: Converter
  readonly rates: { current(currency: Currency): Promise<Rate> }
  readonly context: ChangeContext
  readonly payouts: PayoutDesk
}

/** The settlement engine's counter: where a payout is handed in, in the transaction that changes the payment. */
export type PayoutDesk = {
  /** The treasury that pays the payment. */
  getTreasury(paymentId: string): Hex
  /** For `also` of a change: queues the payout, or puts it back into the queue if it was held. */
  queue(payout: {
    paymentId: string
    livemode: boolean
    chainId: number
    token: Hex
    treasury: Hex
    recipient: Hex
    microUsdc: string
  }): Statement
  /** Keeps a payout that nobody has sent from being sent. False when it is on its way or over. */
  hold(tx: Tx, paymentId: string, detail: string): Promise<boolean>
  /**
   * `voiding`: the engine is to prove that it can never be paid, also one that a restored backup may have forgotten. `none`:
   * none was handed in. `ended`: paid or voided.
   */
  void(tx: Tx, paymentId: string): Promise<'voiding' | 'none' | 'ended'>
  /** The payout that has not ended, or what a restored backup may have forgotten of a payment that has none; null: neither. */
  open(tx: Tx, paymentId: string): Promise<OpenPayout | null>
}

/** A call of a partner or of the converter is given up after this long; its outcome is then unknown. */
export const CALL_TIMEOUT_MS = 10_000
