import type { Currency } from '../../domain/currencies.ts'
import { getDecimals } from '../../domain/currencies.ts'
import type { Money } from '../../domain/money.ts'

/**
 * Stripe counts these in hundredths although they have none (https://docs.stripe.com/currencies#special-cases): the
 * hundredths are always zero.
 */
const COUNTED_IN_HUNDREDTHS: readonly Currency[] = ['ISK']

const unit = (currency: Currency): bigint =>
  COUNTED_IN_HUNDREDTHS.includes(currency) && getDecimals(currency) === 0 ? 100n : 1n

export function toStripeAmount({ minor, currency }: Money): string {
  return (BigInt(minor) * unit(currency)).toString()
}

/** `amount` is in Stripe's units. Null for hundredths that the currency does not have. */
export function fromStripeAmount(amount: bigint, currency: Currency): Money | null {
  return amount % unit(currency) === 0n ? { minor: (amount / unit(currency)).toString(), currency } : null
}
