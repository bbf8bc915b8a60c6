import { formatAmount, type Money } from '../../domain/money.ts'

/** Cashfree sends and expects JSON numbers of rupees. Amounts have at most 14 digits, so that each number is exact. */
export const toRupees = (money: Money): number => Number(formatAmount(money))

/** Returns paise. Null for more than two decimals, a sign or an exponent. */
export function fromRupees(rupees: number): bigint | null {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(String(rupees)) ?? []
  return whole === undefined ? null : BigInt(`${whole}${fraction.padEnd(2, '0')}`)
}
