import { type MicroUsdc, type Percent, subtract, takePercent } from '../money.ts'

/** The share of a payment's net amount that is held back for chargebacks, and for how many days after the payout. */
export type ReserveTerms = { readonly percent: Percent; readonly days: number }

type Reserved = {
  readonly reserve: ReserveTerms | null
  readonly usdc: { readonly net: MicroUsdc } | null
}

/** Returns `floor(net × percent / 100)`, in micro-USDC. */
export const getReserved = ({ reserve, usdc }: Reserved): MicroUsdc =>
  reserve === null || usdc === null ? '0' : takePercent(usdc.net, reserve.percent)

type Paid = Reserved & {
  readonly usdc: { readonly net: MicroUsdc }
  readonly deduction: { readonly micro: MicroUsdc } | null
}

/** Returns what the payout pays: the rest of the net amount, without what is deducted for a refund. */
export const getPayoutMicro = ({ usdc, reserve, deduction }: Paid): MicroUsdc =>
  subtract(subtract(usdc.net, getReserved({ usdc, reserve })), deduction?.micro ?? '0')

const DAY_MS = 86_400_000

/** Returns the first day (UTC) that begins at least `days` after the time, both in ISO 8601. */
export function findDueDay(paidAt: string, { days }: Pick<ReserveTerms, 'days'>): string {
  // oxlint-disable-next-line no-restricted-globals -- reads what it is given, not the clock
  const midnight = Date.parse(`${paidAt.slice(0, 10)}T00:00:00.000Z`)
  // oxlint-disable-next-line no-restricted-globals -- writes what it is given, not the clock
  return new Date(midnight + (days + 1) * DAY_MS).toISOString().slice(0, 10)
}
