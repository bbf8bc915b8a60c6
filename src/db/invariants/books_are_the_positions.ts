import { computePositions, listLinesBetween } from '../../domain/payment/funds/positions.ts'
import { toFunds } from '../../domain/payment/funds/stored-funds.ts'
import type { Booked } from './invariant.ts'

export const RULE = 'The ledger accounts of a payment are what its orders, its sales and its payout give.'
export const TODO =
  'A change of the payment was not booked, or booked otherwise. Compare its timeline with its bookings, and book the difference that is named.'

export function compare({ state, books }: Booked): string | null {
  const lines = listLinesBetween(books, computePositions(toFunds(state)))
  const missing = lines.map(({ account, asset, amount }) => `${amount} of ${account} ${asset}`)
  return missing.length === 0 ? null : `the ledger lacks ${missing.join(', ')}`
}
