import type { Currency } from '../currencies.ts'
import type { Money } from '../money.ts'
import type { Invoice } from '../payment/invoice.ts'

export type BuyerMailFacts = {
  readonly kind: 'receipt' | 'refund'
  readonly paymentId: string
  /** The page of the payment. */
  readonly url: string
  readonly shop: string
  /** The shop's address for questions; null: it named none. */
  readonly supportEmail: string | null
  /** The amount that the buyer paid, or gets back. */
  readonly amount: Money
  readonly description: string | null
  readonly reference: string | null
  readonly invoice: Invoice | null
  /** The currency of the items. */
  readonly currency: Currency
  readonly testMode: boolean
}
