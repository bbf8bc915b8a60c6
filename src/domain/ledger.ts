import { isZero, type MicroUsdc, type Money, subtract } from './money.ts'

/**
 * Double entry: each business fact is a list of lines that sums to zero per asset. Debits are positive, credits
 * negative. The database refuses a transaction that does not balance, and a second one for the same fact. The bookings
 * of a payment are computed from its funds (payment/funds/positions.ts); this file has all others.
 */

export type Account =
  | 'partner_receivable'
  | 'conversion'
  | 'treasury'
  | 'deposits'
  | 'exchange'
  | 'merchant_payable'
  | 'reserve'
  | 'fee_revenue'
  | 'gas_expense'
  | 'gas_float'
  | 'chargeback_loss'
  | 'suspense'
  | 'refill'
  | 'spread'

/** A currency code, `USDC` in micro-USDC, or `POL` in wei. */
export type Asset = string

export type Line = { readonly account: Account; readonly asset: Asset; readonly amount: string }

export type Booking = {
  /** The fact that happened: for a payment, the kind of the entry in its timeline. */
  readonly kind: string
  /** The identity of the fact, together with the kind: a second booking of it is refused. */
  readonly reference: string
  readonly paymentId: string | null
  readonly lines: readonly Line[]
}

const negative = (amount: string): string => subtract('0', amount)
const nonZero = (lines: Line[]): Line[] => lines.filter((line) => !isZero(line.amount))

export function toppedUp(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('topped_up', { ...fact, paymentId: null }, ['treasury', 'conversion'])
}

/** Books USDC that arrived without a converter that delivers it: it is in `suspense` until a refill claims it. */
export function received(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('received', { ...fact, paymentId: null }, ['treasury', 'suspense'])
}

/** Books USDC that left the treasury without a payout: it is in `suspense` until an operator finds out why. */
export function withdrawn(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('withdrawn', { ...fact, paymentId: null }, ['suspense', 'treasury'])
}

/** The platform was free to spend the USDC. A refund by hand leaves as much in `exchange`. */
export function acknowledged(fact: { reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('acknowledged', { ...fact, paymentId: null }, ['exchange', 'suspense'])
}

/** Books that a transfer whose owner was unknown is a payout: it leaves its account, and the payment books it. */
export function claimed(fact: { reference: string; micro: MicroUsdc; from: 'suspense' | 'exchange' }): Booking {
  return usdcLines('claimed', { ...fact, paymentId: null }, ['treasury', fact.from])
}

/** Books USDC that is final at a deposit address: in `suspense` until the payment, or the refund, takes it. */
export function deposited(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('deposited', fact, ['deposits', 'suspense'])
}

/** Books USDC that is final back at the merchant's wallet: a refund did not take it. */
export function returned(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('returned', fact, ['suspense', 'deposits'])
}

/**
 * Books that a refund has taken the merchant's USDC, which lowers the cost of the exposure: the partner's part is booked
 * by the payment. `from`: `suspense` for USDC at the refund's address, `reserve` for what payouts lack.
 */
export function refundTaken(fact: {
  paymentId: string
  reference: string
  micro: MicroUsdc
  from: 'suspense' | 'reserve'
}): Booking {
  return usdcLines('refund_taken', fact, [fact.from, 'exchange'])
}

export function swept(fact: { paymentId: string; reference: string; micro: MicroUsdc }): Booking {
  return usdcLines('swept', fact, ['treasury', 'deposits'])
}

/** Books that a release of reserves is final on chain: until then the merchant is owed it. */
export function reservePaid({ ownerId, microUsdc }: { ownerId: string; microUsdc: MicroUsdc }): Booking {
  const fact = { paymentId: null, reference: ownerId, micro: microUsdc }
  return usdcLines('reserve_paid', fact, ['merchant_payable', 'treasury'])
}

/** Books that money at partners is on its way to become USDC. */
export function refillOpened(fact: { refillId: string; money: Money }): Booking {
  return refillLines('refill_opened', fact, ['refill', 'partner_receivable'])
}

/** Books that the money is where it was, because the refill brings nothing. */
export function refillEnded(fact: { refillId: string; money: Money }): Booking {
  return refillLines('refill_ended', fact, ['partner_receivable', 'refill'])
}

/**
 * Books a refill whose USDC has arrived. The currency's move since the conversions, at the market's rates, is a gain or
 * a loss of `exchange`. What the exchange itself cost, partners' fees included, is `spread`.
 */
export function refillDone(fact: {
  refillId: string
  money: Money
  costMicro: MicroUsdc
  marketMicro: MicroUsdc
  micro: MicroUsdc
}): Booking {
  const { refillId, money, costMicro, marketMicro, micro } = fact
  const usdc: Line[] = [
    { account: 'suspense', asset: 'USDC', amount: micro },
    { account: 'conversion', asset: 'USDC', amount: negative(costMicro) },
    { account: 'exchange', asset: 'USDC', amount: subtract(costMicro, marketMicro) },
    { account: 'spread', asset: 'USDC', amount: subtract(marketMicro, micro) },
  ]
  const booking = refillLines('refill_done', { refillId, money }, ['conversion', 'refill'])
  return { ...booking, lines: [...booking.lines, ...nonZero(usdc)] }
}

function refillLines(
  kind: Booking['kind'],
  { refillId, money: { minor, currency } }: { refillId: string; money: Money },
  [debit, credit]: [Account, Account],
): Booking {
  return {
    kind,
    reference: refillId,
    paymentId: null,
    lines: [
      { account: debit, asset: currency, amount: minor },
      { account: credit, asset: currency, amount: negative(minor) },
    ],
  }
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

/** Returns the lines of a booking, summed per asset, without the zeros: a correct booking has none left. */
export function imbalances(booking: Booking): Record<Asset, string> {
  const totals: Record<Asset, bigint> = {}
  for (const line of booking.lines) totals[line.asset] = (totals[line.asset] ?? 0n) + BigInt(line.amount)
  return Object.fromEntries(
    Object.entries(totals)
      .filter(([, total]) => total !== 0n)
      .map(([asset, total]) => [asset, total.toString()]),
  )
}
