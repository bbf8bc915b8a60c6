import { isZero, type MicroUsdc, subtract } from './money.ts'

/**
 * Double entry: each business fact as a list of lines that sums to zero per asset. The books of a payment are computed
 * from its funds (payment/funds/positions.ts); here is everything else. Debits are positive, credits
 * negative. The database refuses a transaction that does not balance, and a second one for the same fact.
 */

export type Account =
  | 'partner_receivable'
  | 'conversion'
  | 'treasury'
  | 'deposits'
  | 'exchange'
  | 'merchant_payable'
  | 'fee_revenue'
  | 'gas_expense'
  | 'gas_float'
  | 'chargeback_loss'
  | 'suspense'

/** A currency code, `USDC` in micro-USDC, or `POL` in wei. */
export type Asset = string

export type Line = { readonly account: Account; readonly asset: Asset; readonly amount: string }

export type Booking = {
  /** What has happened: of a payment the kind of the entry in its timeline. */
  readonly kind: string
  /** With the kind, the identity of the fact: booking it twice is refused. */
  readonly reference: string
  readonly paymentId: string | null
  readonly lines: readonly Line[]
}

const negative = (amount: string): string => subtract('0', amount)
const nonZero = (lines: Line[]): Line[] => lines.filter((line) => !isZero(line.amount))

/** USDC arrived in the treasury: the converter delivered. */
export function toppedUp(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('topped_up', { ...fact, paymentId: null }, ['treasury', 'conversion'])
}

/** USDC left the treasury without a payout of ours: an operator finds out why, until then it is in `suspense`. */
export function withdrawn(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('withdrawn', { ...fact, paymentId: null }, ['suspense', 'treasury'])
}

/**
 * An operator has found out why it left: it was ours to spend. Where it was a refund by hand, the return of the money leaves
 * as much in `exchange`.
 */
export function acknowledged(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('acknowledged', { ...fact, paymentId: null }, ['exchange', 'suspense'])
}

/** A transfer that was booked as nobody's turns out to be a payout: it leaves that account, and the payment books it. */
export function claimed(fact: { reference: string; micro: MicroUsdc; from: 'suspense' | 'exchange' }): Booking {
  return usdcLines('claimed', { ...fact, paymentId: null }, ['treasury', fact.from])
}

/** USDC is final at the address of a payment. Until the payment takes it, it belongs to nobody: `suspense`. */
export function deposited(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('deposited', fact, ['deposits', 'suspense'])
}

/** What came to the address of a payment is in the treasury. */
export function swept(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('swept', fact, ['treasury', 'deposits'])
}

function usdcLines(
  kind: Booking['kind'],
  fact: { paymentId: string | null; reference: string; micro: MicroUsdc },
  [debit, credit]: [Account, Account],
): Booking {
  return {
    kind,
    reference: fact.reference,
    paymentId: fact.paymentId,
    lines: nonZero([
      { account: debit, asset: 'USDC', amount: fact.micro },
      { account: credit, asset: 'USDC', amount: negative(fact.micro) },
    ]),
  }
}

/** Gas of one transaction of a relayer lane, in wei of the chain's coin. */
export function gasSpent(fact: { reference: string; wei: string }): Booking {
  return {
    kind: 'gas',
    reference: fact.reference,
    paymentId: null,
    lines: [
      { account: 'gas_expense', asset: 'POL', amount: fact.wei },
      { account: 'gas_float', asset: 'POL', amount: negative(fact.wei) },
    ],
  }
}

/** The lines of a booking, summed per asset; all zero, or the booking is wrong. */
export function imbalances(booking: Booking): Record<Asset, string> {
  const totals: Record<Asset, bigint> = {}
  for (const line of booking.lines) totals[line.asset] = (totals[line.asset] ?? 0n) + BigInt(line.amount)
  return Object.fromEntries(
    Object.entries(totals)
      .filter(([, total]) => total !== 0n)
      .map(([asset, total]) => [asset, total.toString()]),
  )
}
