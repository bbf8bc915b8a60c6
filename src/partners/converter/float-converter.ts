import { convertToMicroUsdc } from '../../domain/money.ts'
import type { Converter } from './converter.ts'

const REFERENCE = 'float'

/**
 * Fills each order from USDC that the platform has, at the locked rate, without a call: the payment's own statement
 * checks that the USDC is there, and books it. An order that is not filled is in no other books, so it ends at once.
 */
export const createFloatConverter = (market: Pick<Converter, 'rates'>): Converter => ({
  rates: (signal) => market.rates(signal),
  convert: async ({ amount, rate }) => ({
    kind: 'filled',
    microUsdc: convertToMicroUsdc(amount, rate),
    reference: REFERENCE,
  }),
  cancel: async () => ({ kind: 'canceled' }),
})
